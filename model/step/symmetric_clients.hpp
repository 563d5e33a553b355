// Which clients are interchangeable, and how a world looks when they change places.
//
// Clients are alike when they send the same requests in the same order but for values of their own: keys, fields, the name of the
// client, what it calls its operations. Where one has a value of its own, each of the others has another one in its place. When
// clients change places their values do, wherever they stand, and texts made of these with || (a key of Redis, the name of a
// lock) are made anew.
//
// Sound when the rest of the program treats such values alike: it only compares them for equality. So clients stay apart, and
// `kept_apart` says why, when
//   - a literal (of the schema too) or a word of the model is such a value
//   - a value is no text, or reads as a number
//   - something compares by order (<, ORDER BY, MIN, LIKE, ...), or can tell the order of rows
//   - || makes a text in two ways that would become different texts, or one that the domain lacks
//   - a fault names one of them
#pragma once

#include <string>
#include <vector>

#include "model/step/numbered_values.hpp"
#include "model/step/renaming.hpp"

namespace oncecheck {

struct SymmetricClients {
  std::vector<std::vector<int>> groups;  // clients
  std::vector<Renaming> places;          // every way in which they can stand; the first moves nobody
  std::vector<std::vector<std::uint8_t>> place_of;  // by way: new place of each client
  // By value: 0, or 1 + a number of (client, which of its own values).
  std::vector<int> own;
  std::vector<int> client_of_own, which_of_own;
};

// forgotten: see Renaming::forgotten.
SymmetricClients find_symmetric_clients(const Program& program, const NumberedValues& numbered, std::uint32_t forgotten,
                                        std::vector<std::string>& found, std::vector<std::string>& kept_apart);

}  // namespace oncecheck
