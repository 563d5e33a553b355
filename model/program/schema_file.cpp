#include "model/program/schema_text.hpp"

namespace oncecheck::schema_text {

constinit const std::string_view kFile = R"json(
{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://oncecheck.dev/schema/v1",
  "title": "oncecheck scenario",
  "description": "An idempotent endpoint, what may go wrong, and what it promises.",
  "type": "object",
  "required": ["title"],
  "additionalProperties": false,
  "properties": {
    "$schema": { "type": "string", "minLength": 1, "description": "The address of this schema, for editors." },
    "title": { "$ref": "#/$defs/title" },
    "story": { "type": "string", "minLength": 1, "description": "What happens, and why it matters." },
    "params": {
      "type": "object",
      "description": "Named values. \"${name}\" in any string stands for one of them; --set NAME=VALUE changes it.",
      "propertyNames": { "pattern": "^[A-Za-z0-9_.-]{1,64}$" },
      "additionalProperties": { "$ref": "#/$defs/scalar" },
      "examples": [{ "lease": "30s", "clicks": 2 }]
    },
    "databases": {
      "type": "object",
      "description": "SQL databases by name.",
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": {
        "type": "object",
        "required": ["engine"],
        "additionalProperties": false,
        "properties": {
          "engine": { "$ref": "#/$defs/engine" },
          "isolation": { "$ref": "#/$defs/isolation" },
          "schema": { "$ref": "#/$defs/sql_texts" },
          "effects": { "$ref": "#/$defs/effects" },
          "replicas": { "$ref": "#/$defs/replicas" },
          "replication": { "$ref": "#/$defs/replication" },
          "pool": { "$ref": "#/$defs/pool" },
          "rows": {
            "type": "object",
            "description": "The most row versions that a table may hold at once. More makes the run inconclusive.",
            "additionalProperties": { "$ref": "#/$defs/int_1_32" },
            "examples": [{ "intent": 4 }]
          }
        }
      }
    },
    "redis": {
      "type": "object",
      "description": "Redis servers by name.",
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": {
        "type": "object",
        "additionalProperties": false,
        "properties": {
          "replicas": { "$ref": "#/$defs/int_0_2", "default": 0, "description": "How many replicas follow the primary." },
          "min_replicas": { "$ref": "#/$defs/int_0_2", "default": 0, "description": "min-replicas-to-write: with fewer that answer, writes are refused." },
          "persistence": { "$ref": "#/$defs/redis_persistence", "default": "none" },
          "eviction": { "$ref": "#/$defs/redis_eviction", "default": "none" },
          "clocks": { "$ref": "#/$defs/redis_clocks", "default": "agree" },
          "resend": { "$ref": "#/$defs/bool", "default": false, "description": "Whether the client library sends a command again when its connection breaks." }
        }
      }
    },
    "providers": {
      "type": "object",
      "description": "External HTTP APIs by name. Their ledger of effects decides what really happened.",
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": {
        "type": "object",
        "additionalProperties": false,
        "properties": {
          "operations": {
            "type": "object",
            "description": "What callers may ask for, by name.",
            "propertyNames": { "$ref": "#/$defs/part_name" },
            "additionalProperties": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "idempotency_key": { "$ref": "#/$defs/idempotency_key" },
                "may_decline": { "$ref": "#/$defs/may_decline" },
                "stores": { "$ref": "#/$defs/stores" },
                "other_parameters": { "$ref": "#/$defs/other_parameters" },
                "in_flight": { "$ref": "#/$defs/in_flight" },
                "forgets_after": { "$ref": "#/$defs/interval" },
                "undoes": { "$ref": "#/$defs/undoes" },
                "cancels": { "$ref": "#/$defs/cancels" },
                "object": { "$ref": "#/$defs/object" },
                "webhook": { "$ref": "#/$defs/webhook" },
                "webhooks": { "type": "array", "items": { "$ref": "#/$defs/webhook" } }
              }
            }
          },
          "lookup": { "$ref": "#/$defs/lookup" },
          "list": { "$ref": "#/$defs/list" },
          "preset": { "$ref": "#/$defs/preset" }
        }
      }
    },
    "queues": {
      "type": "object",
      "description": "Queues by name. Each delivers its messages at least once, in any order.",
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": {
        "type": "object",
        "required": ["to"],
        "additionalProperties": false,
        "properties": {
          "to": { "$ref": "#/$defs/receiver" },
          "visibility": { "$ref": "#/$defs/interval" },
          "receives": { "$ref": "#/$defs/receives" }
        }
      }
    },
    "services": {
      "type": "object",
      "description": "Your services by name: the code that is checked.",
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": {
        "type": "object",
        "additionalProperties": false,
        "properties": {
          "instances": { "$ref": "#/$defs/instances" },
          "on_request": { "$ref": "#/$defs/steps", "description": "What happens with each request." },
          "endpoints": { "$ref": "#/$defs/endpoints" },
          "on_start": { "$ref": "#/$defs/steps", "description": "What an instance does when it starts again." },
          "jobs": { "$ref": "#/$defs/jobs" },
          "drain": { "$ref": "#/$defs/drain" },
          "processes": { "$ref": "#/$defs/processes" },
          "next": {
            "type": "object",
            "description": "The next version of the code, which a deploy brings. What it leaves out stays as it is.",
            "additionalProperties": false,
            "properties": {
              "on_request": { "$ref": "#/$defs/steps" },
              "endpoints": { "$ref": "#/$defs/endpoints" },
              "on_start": { "$ref": "#/$defs/steps" },
              "jobs": { "$ref": "#/$defs/jobs" }
            }
          }
        }
      }
    },
    "clients": {
      "type": "object",
      "description": "Callers by name.",
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": {
        "type": "object",
        "required": ["requests"],
        "additionalProperties": false,
        "properties": {
          "requests": { "$ref": "#/$defs/requests" },
          "clicks": { "$ref": "#/$defs/clicks" },
          "retries": { "$ref": "#/$defs/retries" },
          "retry_on": { "$ref": "#/$defs/retry_on" },
          "timeout": { "$ref": "#/$defs/interval" },
          "backoff": { "$ref": "#/$defs/backoff" },
          "poll": { "$ref": "#/$defs/poll" },
          "network": { "$ref": "#/$defs/client_network" }
        }
      }
    },
    "faults": {
      "type": "object",
      "description": "What may go wrong, and how often at most.",
      "additionalProperties": false,
      "properties": {
        "crash": { "$ref": "#/$defs/fault", "description": "An instance stops; its handlers and sessions are gone." },
        "deploy": { "$ref": "#/$defs/fault", "description": "All instances are replaced and run 'on_start'." },
        "lose_request": { "$ref": "#/$defs/fault", "description": "A request never arrives." },
        "lose_response": { "$ref": "#/$defs/fault", "description": "It was done, but the answer never arrives." },
        "duplicate_request": { "$ref": "#/$defs/fault", "description": "A request arrives twice." },
        "timeout": { "$ref": "#/$defs/fault", "description": "A caller gives up though an answer could still come." },
        "failover": { "$ref": "#/$defs/fault", "description": "A Redis replica takes over without the latest writes." },
        "expire": { "$ref": "#/$defs/fault", "description": "A key or deadline runs out while work goes on." },
        "error_after_effect": { "$ref": "#/$defs/fault", "description": "A provider does it and answers 500." },
        "error_before_effect": { "$ref": "#/$defs/fault", "description": "A provider answers 500 and does nothing." },
        "ok_without_effect": { "$ref": "#/$defs/fault", "description": "A provider answers 200 and does nothing." },
        "redeliver": { "$ref": "#/$defs/fault", "description": "A message comes again while its first consumer still works." },
        "rolling_deploy": { "$ref": "#/$defs/fault", "description": "The instances of a service are replaced one by one." },
        "clock_jump": { "$ref": "#/$defs/fault", "description": "The clock of an instance jumps ahead or falls behind." },
        "restart_redis": { "$ref": "#/$defs/fault", "description": "A Redis restarts with what its persistence kept." },
        "partition": { "$ref": "#/$defs/partition", "description": "A Redis primary is cut off from its replicas, or named groups from each other." },
        "evict": { "$ref": "#/$defs/fault", "description": "A Redis is out of memory and evicts a key." },
        "lose_message": { "$ref": "#/$defs/fault", "description": "A request never arrives, or its answer: one budget for both." },
        "lose_connection": { "$ref": "#/$defs/fault", "description": "The connection to a database is lost before a statement or before its answer." }
      },
      "examples": [{ "lose_response": 1, "crash": { "max": 1, "service": "checkout" } }]
    },
    "invariants": { "$ref": "#/$defs/invariants" },
    "must_reach": { "$ref": "#/$defs/must_reach" },
    "unreached": { "$ref": "#/$defs/unreached" },
    "bounds": {
      "type": "object",
      "description": "Capacities of the search. A run that fills one is inconclusive.",
      "additionalProperties": false,
      "properties": {
        "rows": { "$ref": "#/$defs/int_1_32", "default": 6, "description": "Row versions a table." },
        "messages": { "$ref": "#/$defs/int_1_16", "default": 6, "description": "Requests in flight at once." },
        "effects": { "$ref": "#/$defs/int_1_16", "default": 4, "description": "Entries of a provider's ledger." },
        "fresh": { "$ref": "#/$defs/int_0_32", "default": 6, "description": "Fresh values (UUIDs, tokens) at once." },
        "deadlines": { "$ref": "#/$defs/int_0_16", "default": 4, "description": "Running deadlines at once." },
        "int_min": { "$ref": "#/$defs/int_min", "default": -4, "description": "The smallest number in a cell." },
        "int_max": { "$ref": "#/$defs/int_max", "default": 40, "description": "The largest number in a cell." },
        "redis_log": { "$ref": "#/$defs/int_0_16", "default": 8, "description": "Writes not yet at the replica." },
        "tasks": { "$ref": "#/$defs/int_0_16", "default": 0, "description": "Handlers at once; 0: as many as needed." }
      }
    },
    "expect": { "$ref": "#/$defs/expect" },
    "variants": {
      "type": "object",
      "description": "Designs side by side. Each is a JSON merge patch (RFC 7396) onto the rest of the file.",
      "minProperties": 1,
      "maxProperties": 64,
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": { "$ref": "#/$defs/patch" }
    }
  },
)json";

}  // namespace oncecheck::schema_text
