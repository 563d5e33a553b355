// Symmetry reduction: worlds that differ only in which of several interchangeable things is which are one state of the search.
//
// Interchangeable are
//   handlers   the slots of a service's requests, and the copies of a job, each with its sessions and connections
//   clicks     of one request of a client, when all send the same
//   instances  of one service, each with its start-up program
//   clients    that send the same requests but for values of their own (symmetric_clients.hpp)
//
// Sound because no rule of the model looks at the number of such a thing other than to know it again: what can happen in a world
// with other numbers (renaming.hpp) is what can happen in the world itself, with other numbers, up to which free slot is taken
// and which idle instance stands for all. So of every orbit one world is enough, for every promise that cannot name such a
// thing; and none can: facts know clients and their operations, rows know values. Where numbers do show, the things stay apart,
// and kept_apart() says why:
//   - the order of rows (row_order.hpp), the order of fresh values where something asks for it
//   - promises of steps that compare fresh values or times of two worlds, where one value may have two numbers
//   - on PostgreSQL, row locks that several sessions can hold: who must wait for them waits for the one of the lowest number
// Clicks that were not yet sent come last: they go out in their order.
//
// The representative: things that can be told apart by what they are, seen for themselves, are sorted by that; of those that
// cannot, every order is tried (as long as there are few), and the least world in byte order is taken. It need not be perfect:
// two representatives of one orbit only mean less reduction.
//
// apply() knows nothing of this: simulate, replay and stories keep their names. The checker stores representatives, and rebuilds
// a counterexample by real steps from the first world.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/step/symmetric_clients.hpp"

namespace oncecheck {

class Symmetry {
 public:
  // forgotten: a planted bug of a test, see Renaming::forgotten.
  explicit Symmetry(const Program& program, std::uint32_t forgotten = 0);

  // Whether anything is interchangeable.
  bool any() const { return !slots_.empty() || !clicks_.empty() || !instances_.empty() || !clients_.groups.empty(); }
  bool swaps_clients() const { return !clients_.groups.empty(); }
  // "2 clicks of buyer/1", "3 handlers of checkout", ...
  const std::vector<std::string>& found() const { return found_; }
  const std::vector<std::string>& kept_apart() const { return kept_apart_; }

  // Room for one thread.
  struct Scratch {
    explicit Scratch(const Program& program);
    Renaming renaming;
    std::vector<std::uint8_t> placed;  // the world once its clients have changed places
    std::vector<std::uint8_t> candidate, least;
    std::vector<std::uint64_t> client_keys;
    bool found = false;               // there is a least one
    std::vector<std::uint8_t> keys;   // of each task, to sort by
    std::vector<int> order;           // tasks by new slot, one class behind the other
    std::vector<std::pair<int, int>> ties;  // ranges of `order`
  };
  // Replaces a world that apply() gave by the representative of its orbit. Whether that is another one. No allocation.
  bool represent(std::uint8_t* world, Scratch& scratch) const;

 private:
  void find_clicks();
  void find_slots(const std::vector<std::string>& apart);
  void find_instances(const std::vector<std::string>& apart);
  void find_places();
  std::vector<std::string> why_apart(const NumberedValues& numbered) const;
  std::string why_apart(const std::vector<int>& tasks, const std::vector<std::string>& apart) const;

  // The parts of represent().
  void write_client_keys(const std::uint8_t* w, Scratch& s) const;
  bool in_order(std::size_t place, const Scratch& s) const;
  bool try_orders(const std::uint8_t* w, bool moved, bool only, Scratch& s) const;
  void sort_slots(const std::uint8_t* w, Scratch& s) const;
  void write_key(const std::uint8_t* w, int task, std::uint8_t* key) const;
  bool needs_no_trial(const std::uint8_t* w, int task) const;
  void number(const std::uint8_t* w, Scratch& s) const;
  void number_senders(const std::uint8_t* w, Renaming& r) const;
  void number_instances(const std::uint8_t* w, Scratch& s) const;

  const Program& p_;
  const Layout& l_;
  std::vector<std::vector<int>> slots_;   // tasks
  std::vector<std::vector<int>> clicks_;  // senders
  std::vector<int> instances_;            // services
  SymmetricClients clients_;
  std::vector<int> class_of_sender_;
  std::vector<int> client_of_operation_, first_operation_, first_route_;
  std::size_t key_bytes_ = 0;
  std::uint32_t forgotten_ = 0;
  std::vector<std::string> found_, kept_apart_;
};

}  // namespace oncecheck
