// Interleaved SQL sessions written as text, for tests of the database models:
//   S CREATE TABLE k (id int PRIMARY KEY)     the setup
//   A BEGIN                                   session A; the answer OK
//   A INSERT INTO k VALUES (1) -> 1           affected rows, or rows as JSON
//   B INSERT INTO k VALUES (1) -> 1 @4        was blocked until step 4 was done (steps count from 0)
//   B INSERT INTO k VALUES (1) -> !1062       an error
//   kill A                                    the server ends the session
//   sleep 1200                                milliseconds pass
//   F {"k": [[1]]}                            the tables in the end
#pragma once

#include <string>

namespace oncecheck::testing {

// "agree" when the model gives exactly this; else the verdict and how the model differs. engine: "postgres", "mariadb" or "mysql".
std::string played(const std::string& engine, const std::string& isolation, const std::string& script);

}  // namespace oncecheck::testing
