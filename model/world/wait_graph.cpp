#include "model/world/wait_graph.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include "model/world/innodb_transaction.hpp"

namespace oncecheck {

namespace {

const std::uint8_t* session_of(const Plan& plan, const std::uint8_t* w, int session) {
  return w + plan.layout.sessions[static_cast<std::size_t>(session)].offset;
}

int waits_for(const Plan& plan, const std::uint8_t* w, int session) { return session_of(plan, w, session)[kWaits] - 1; }

// On MariaDB and MySQL a wait for GET_LOCK and a wait for a row are seen by two detectors that know nothing of each
// other.
bool same_detector(const Plan& plan, const std::uint8_t* w, int a, int b) {
  const int db = plan.layout.sessions[static_cast<std::size_t>(a)].db;
  if (!is_innodb(plan.layout.databases[static_cast<std::size_t>(db)].engine)) return true;
  return (session_of(plan, w, a)[kWaitKind] == kWaitAdvisory) == (session_of(plan, w, b)[kWaitKind] == kWaitAdvisory);
}

bool is_waited_for(const Plan& plan, const std::uint8_t* w, int session) {
  for (std::size_t s = 0; s < plan.layout.sessions.size(); ++s) {
    if (waits_for(plan, w, static_cast<int>(s)) == session) return true;
  }
  return false;
}

}  // namespace

bool in_deadlock(const Plan& plan, const std::uint8_t* w, int session) {
  // Nearly always the answer is here: the graph is built only when the session both waits and is waited for.
  if (waits_for(plan, w, session) < 0 || !is_waited_for(plan, w, session)) return false;
  const std::size_t count = plan.layout.sessions.size();
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(count);
  for (std::size_t s = 0; s < count; ++s) {
    const int other = waits_for(plan, w, static_cast<int>(s));
    if (other < 0 || !same_detector(plan, w, session, static_cast<int>(s))) continue;
    boost::add_edge(s, static_cast<std::size_t>(other), graph);
  }
  std::vector<int> component(count);
  const auto index = boost::get(boost::vertex_index, graph);
  boost::strong_components(graph, boost::make_iterator_property_map(component.begin(), index));
  for (std::size_t s = 0; s < count; ++s) {
    if (static_cast<int>(s) != session && component[s] == component[static_cast<std::size_t>(session)]) return true;
  }
  return false;
}

int expected_victim(const Plan& plan, std::uint8_t* w, int closer) {
  if (!in_deadlock(plan, w, closer)) return -1;
  if (session_of(plan, w, closer)[kWaitKind] == kWaitAdvisory) return closer;
  int victim = closer, weight = innodb_weight(plan, w, closer);
  for (int s = waits_for(plan, w, closer); s != closer; s = waits_for(plan, w, s)) {
    const int other = innodb_weight(plan, w, s);
    if (other >= weight) continue;
    victim = s;
    weight = other;
  }
  return victim;
}

}  // namespace oncecheck
