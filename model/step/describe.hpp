// Events in words. A choice name is stable: it names participant, step, message and fault, no slot numbers, so that a trace
// survives an edit of the scenario (DESIGN 5).
#pragma once

#include <string>
#include <vector>

#include "model/step/relation.hpp"

namespace oncecheck {

// Names of the events, all different, in the same order: "checkout/1 K1: on_request/2 call stripe.charge". Events that no
// name can tell apart get a running number behind them.
std::vector<std::string> choice_names(const Program& program, const std::uint8_t* world, const std::vector<Event>& events);

// The participant whose line an event belongs on: a client, "SERVICE/INSTANCE", a provider, a redis, "network", "time".
std::string lane_of(const Program& program, const std::uint8_t* world, const Event& event);

// A deleted row or a replaced version, by the columns that its index records keep: "t (id 1)".
std::string purged_words(const Program& program, const std::uint8_t* world, int table, int slot);

// Whom a message is from: "shopper", "shopper (click 2)".
std::string sender_name(const Program& program, int sender);
// Who waits for an answer: a sender, or "checkout/1" for a task.
std::string caller_name(const Program& program, const std::uint8_t* world, std::uint8_t caller);
// "request of shopper", "webhook of stripe", "call of checkout/1", "message of queue jobs"; and where it goes:
// "checkout", "checkout.stripe_events".
std::string origin_name(const Program& program, const std::uint8_t* world, int route, std::uint8_t caller);
std::string endpoint_name(const Program& program, int route);
// "checkout/1 request of shopper", "checkout/1 job reconcile".
std::string task_name(const Program& program, const std::uint8_t* world, int task);
// The task that a session belongs to, by that name; "an idle connection with lock 42" of a pool.
std::string session_name(const Program& program, const std::uint8_t* world, int session);
// " on an idle connection with lock 42": which one a pool gives the task (Event::b of a Step); "" when nothing is left on it.
std::string connection_words(const Program& program, const std::uint8_t* world, int task, int way);

// The step at which a task stands.
const StepInfo* step_of(const Program& program, const std::uint8_t* world, int task);

// " at the old primary", " (not confirmed in time)", or "": which way a Redis command goes (redis_way).
std::string redis_way_words(const Program& program, const std::uint8_t* world, int task, int command, int number);
// As connection_words and redis_way_words, of a LoseConnection; "" when it is lost before the step ran.
std::string lost_way_words(const Program& program, const std::uint8_t* world, const Event& event);

std::string show_cell(const Program& program, CellId id);

}  // namespace oncecheck
