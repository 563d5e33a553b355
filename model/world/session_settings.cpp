#include "model/world/session_settings.hpp"

#include <cstring>

namespace oncecheck {

namespace {

constexpr std::uint8_t kTouched = 2;  // no setting uses this bit
static_assert((kSettingBits & kTouched) == 0);

struct Settings {
  Settings(const Layout& layout, std::uint8_t* w, int session) {
    const SessionLayout& s = layout.sessions[static_cast<std::size_t>(session)];
    flags = w + s.offset + kSessionFlags;
    const bool innodb = is_innodb(layout.databases[static_cast<std::size_t>(s.db)].engine);
    if (!innodb && s.savepoints >= 0) bytes = w + s.savepoints + 1 + kMaxSavepoints;
  }
  bool touched() const { return bytes != nullptr && bytes[0] != 0; }
  std::uint8_t in_effect() const { return static_cast<std::uint8_t>(*flags & kSettingBits); }
  void put(std::uint8_t settings) {
    *flags = static_cast<std::uint8_t>((*flags & ~kSettingBits) | (settings & kSettingBits));
  }
  void forget() { std::memset(bytes, 0, kSettingsBytes); }
  std::uint8_t* kept(int depth) { return bytes + 2 * depth; }

  std::uint8_t* flags = nullptr;
  std::uint8_t* bytes = nullptr;
};

std::uint8_t with(std::uint8_t settings, std::uint8_t mask, std::uint8_t bits) {
  return static_cast<std::uint8_t>((settings & ~mask) | bits);
}

}  // namespace

void change_setting(const Layout& layout, std::uint8_t* w, int session, std::uint8_t mask, std::uint8_t bits, bool local) {
  Settings s(layout, w, session);
  const bool in_block = w[layout.sessions[static_cast<std::size_t>(session)].offset + kTx] == kOpenTx;
  if (s.bytes == nullptr || !in_block) {
    if (!local) *s.flags = with(*s.flags, mask, bits);
    return;
  }
  if (!s.touched()) {
    s.bytes[0] = static_cast<std::uint8_t>(s.in_effect() | kTouched);
    s.bytes[1] = s.in_effect();
  }
  *s.flags = with(*s.flags, mask, bits);
  if (!local) s.bytes[1] = with(s.bytes[1], mask, bits);
}

void end_settings(const Layout& layout, std::uint8_t* w, int session, bool committed) {
  Settings s(layout, w, session);
  if (!s.touched()) return;
  s.put(s.bytes[committed ? 1 : 0]);
  s.forget();
}

void keep_settings(const Layout& layout, std::uint8_t* w, int session, int depth) {
  Settings s(layout, w, session);
  if (!s.touched()) return;
  s.kept(depth)[0] = static_cast<std::uint8_t>(s.in_effect() | kTouched);
  s.kept(depth)[1] = s.bytes[1];
}

void restore_settings(const Layout& layout, std::uint8_t* w, int session, int depth) {
  Settings s(layout, w, session);
  if (!s.touched()) return;
  if (const std::uint8_t* kept = s.kept(depth); kept[0] != 0) {
    s.put(kept[0]);
    s.bytes[1] = kept[1];
  } else {
    s.put(s.bytes[0]);
    s.forget();
  }
}

void drop_kept_settings(const Layout& layout, std::uint8_t* w, int session, int depth) {
  Settings s(layout, w, session);
  if (!s.touched()) return;
  for (int d = depth + 1; d <= kMaxSavepoints; ++d) s.kept(d)[0] = s.kept(d)[1] = 0;
}

}  // namespace oncecheck
