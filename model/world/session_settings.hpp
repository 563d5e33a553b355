// PostgreSQL's settings follow the transaction (manual, SET): SET inside of a block is undone by ROLLBACK and by ROLLBACK TO a
// savepoint older than it; SET LOCAL ends with the block, and outside of one has no effect. MySQL's SET is no part of a transaction.
//
// The bytes stand behind the savepoints of a session of PostgreSQL, which it then has whenever a statement SETs something. All are
// 0 until the transaction sets something: [what ROLLBACK puts back][what COMMIT leaves], then by savepoint the settings when it
// was made: [in effect][what COMMIT would leave].
#pragma once

#include "model/world/plan.hpp"

namespace oncecheck {

inline constexpr std::uint8_t kSettingBits = kLockTimeoutOn | kStatementTimeoutOn | kSessionLevelBits;  // of the session flags

inline constexpr int kSettingsBytes = 2 + 2 * kMaxSavepoints;

// SET: the bits of `mask` become `bits`.
void change_setting(const Layout& layout, std::uint8_t* w, int session, std::uint8_t mask, std::uint8_t bits, bool local);
void end_settings(const Layout& layout, std::uint8_t* w, int session, bool committed);
// SAVEPOINT, which is now the newest one at `depth`.
void keep_settings(const Layout& layout, std::uint8_t* w, int session, int depth);
// ROLLBACK TO the savepoint at `depth`.
void restore_settings(const Layout& layout, std::uint8_t* w, int session, int depth);
// Savepoints deeper than `depth` are gone.
void drop_kept_settings(const Layout& layout, std::uint8_t* w, int session, int depth);

}  // namespace oncecheck
