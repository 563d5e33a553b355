#include "model/world/replica_read.hpp"

#include "model/world/replication.hpp"
#include "model/world/statement_run.hpp"

namespace oncecheck {

namespace {

class ReplicaRead : StatementRun {
 public:
  ReplicaRead(Context& ctx, const SqlStatement& s, std::uint8_t* locals) : StatementRun(ctx, s, locals) {}

  ExecResult run() {
    ctx_.session = -1;
    ctx_.snapshot = replica_snapshot(ctx_.plan, ctx_.w, s_.db);
    out_ = run_query(ctx_, s_.query);
    ctx_.session = session_;
    count_ = out_.count;
    if (!ctx_.limit) store_result();
    return {};
  }
};

}  // namespace

ExecResult run_on_replica(Context& ctx, const SqlStatement& statement, std::uint8_t* locals) {
  return ReplicaRead(ctx, statement, locals).run();
}

}  // namespace oncecheck
