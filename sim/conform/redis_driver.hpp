// Runs a recorded Redis case through the model.
//
// The driver keeps the clock and the network that the record had: an open link carries the stream before the next step, and a
// time to live passes when the node's own clock reaches it. So there is one course, and the verdict is agree or mismatch.
#pragma once

#include "sim/conform/driver.hpp"
#include "sim/conform/redis_vector_program.hpp"

namespace oncecheck {

DriveResult drive_redis(const Vector& vector, const Recording& recording, const RedisVectorProgram& program);

}  // namespace oncecheck
