// What the statements and faults of a compiled scenario ask of its layout: nothing takes room that nothing uses.
#pragma once

#include <vector>

#include "model/program/program.hpp"

namespace oncecheck {

// REQUIRES: code, statements and faults are compiled; the layout has its databases and tables when it is asked for row locks.
class LayoutNeeds {
 public:
  explicit LayoutNeeds(const Program& program) : p_(program), l_(program.plan.layout) {}

  // Whether one of these bodies has a statement of the database.
  bool bodies_use(const std::vector<int>& bodies, int db) const;
  // Whether a statement SETs something of its session.
  bool sets(int db) const;
  // Whether row versions need bytes for the locks of PostgreSQL.
  bool locks_rows(int db) const;
  // Whether some transaction of the database may be SERIALIZABLE.
  bool serializable(int db) const;

 private:
  template <class Visit>
  void each_statement(int body, const Visit& visit) const;
  bool locks_rows(const SqlStatement& s) const;
  bool keeps_lost_rows(const SqlStatement& s) const;

  const Program& p_;
  const Layout& l_;
};

}  // namespace oncecheck
