// Services with their endpoints, and the routes on which messages reach them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/program/compile_state.hpp"

namespace oncecheck {

// Program::services with names, endpoints and flags, without code; Program::message_queues.
void compile_services(CompileState& state);

// "SERVICE" or "SERVICE.ENDPOINT" as (service, endpoint); nullopt after a reported error.
std::optional<std::pair<int, int>> find_endpoint(CompileState& state, const Text& to);

// The routes of webhooks. Needs the services; call and publish steps add theirs when they are compiled.
void compile_webhooks(CompileState& state);

// Every name that a message to this endpoint may carry.
std::vector<std::string> endpoint_fields(const CompileState& state, int service, int endpoint);

// Whether an endpoint asks a webhook for its event_id, a fresh value each.
bool reads_event_ids(const CompileState& state);

// Once all code is there: which cells of the endpoints take what the messages carry. What no endpoint reads is dropped.
void resolve_routes(CompileState& state);

}  // namespace oncecheck
