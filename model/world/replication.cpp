#include "model/world/replication.hpp"

#include <cstring>

#include "model/world/cells.hpp"
#include "model/world/check.hpp"
#include "model/world/mvcc.hpp"

namespace oncecheck {

namespace {

const DatabaseLayout& database(const Plan& plan, int db) { return plan.layout.databases[static_cast<std::size_t>(db)]; }

}  // namespace

bool has_replica(const Plan& plan, int db) { return database(plan, db).replica >= 0; }

int replica_snapshot(const Plan& plan, const std::uint8_t* w, int db) {
  return w[plan.layout.sessions[static_cast<std::size_t>(database(plan, db).replica)].offset + kSnapshot];
}

bool replica_lags(const Plan& plan, const std::uint8_t* w, int db) {
  const int snapshot = replica_snapshot(plan, w, db);
  for (int t : database(plan, db).tables) {
    const TableLayout& table = plan.layout.tables[static_cast<std::size_t>(t)];
    for (int i = 0; i < table.slots; ++i) {
      const std::uint8_t* v = slot_of(table, w, i);
      for (int k : {kXmin, kXmax}) {
        if (v[k] != 0 && !in_progress(v[k]) && snapshot <= v[k] - 1) return true;
      }
    }
  }
  return false;
}

void start_replica(const Plan& plan, std::uint8_t* w, int db) { take_snapshot(plan.layout, w, database(plan, db).replica); }

void replicate(const Plan& plan, std::uint8_t* w, int db) {
  if (!has_replica(plan, db)) return;  // left out, since nobody could tell
  release_snapshot(plan.layout, w, database(plan, db).replica);
  take_snapshot(plan.layout, w, database(plan, db).replica);
}

void fail_over(const Plan& plan, std::uint8_t* w, int db) {
  const int snapshot = replica_snapshot(plan, w, db);
  for (int s : database(plan, db).sessions) {
    CHECK_THAT(s == database(plan, db).replica || w[plan.layout.sessions[static_cast<std::size_t>(s)].offset + kTx] == kNoTx);
  }
  each_version(plan.layout, w, db, [&](const TableLayout& table, std::uint8_t* v) {
    if (!version_visible(v, -1, snapshot)) {
      std::memset(v, 0, static_cast<std::size_t>(table.stride));
      return;
    }
    v[kXmin] = 1;
    v[kXmax] = v[kNext] = v[kFlags] = 0;
  });
  w[plan.layout.sessions[static_cast<std::size_t>(database(plan, db).replica)].offset + kSnapshot] = 0;
  start_replica(plan, w, db);
}

}  // namespace oncecheck
