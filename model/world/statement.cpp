#include "model/world/statement.hpp"

#include "model/world/innodb_statement.hpp"
#include "model/world/postgres_statement.hpp"
#include "model/world/sequence.hpp"

namespace oncecheck {

ExecResult exec_sql(Context& ctx, const SqlStatement& statement, std::uint8_t* locals) {
  const std::size_t mark = ctx.scratch.mark();
  const Engine engine = ctx.plan.layout.databases[static_cast<std::size_t>(statement.db)].engine;
  const ExecResult result =
      is_innodb(engine) ? run_innodb(ctx, statement, locals) : run_postgres(ctx, statement, locals);
  if (result.status != ExecResult::Status::Blocked) forget_number(ctx.plan, ctx.w, ctx.session);
  ctx.scratch.release(mark);
  return result;
}

}  // namespace oncecheck
