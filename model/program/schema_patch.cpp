#include "model/program/schema_text.hpp"

namespace oncecheck::schema_text {

constinit const std::string_view kPatch = R"json(
    "patch": {
      "type": "object",
      "description": "What this variant changes. null deletes; an array replaces the whole array.",
      "additionalProperties": false,
      "properties": {
        "title": { "$ref": "#/$defs/title" },
        "story": { "type": "string", "minLength": 1, "description": "What this variant teaches." },
        "expect": { "anyOf": [{ "$ref": "#/$defs/expect" }, { "$ref": "#/$defs/deleted" }] },
        "params": { "type": ["object", "null"], "additionalProperties": { "$ref": "#/$defs/scalar" } },
        "databases": {
          "type": ["object", "null"],
          "additionalProperties": {
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
              "engine": { "anyOf": [{ "$ref": "#/$defs/engine" }, { "$ref": "#/$defs/deleted" }] },
              "isolation": { "anyOf": [{ "$ref": "#/$defs/isolation" }, { "$ref": "#/$defs/deleted" }] },
              "schema": { "anyOf": [{ "$ref": "#/$defs/sql_texts" }, { "$ref": "#/$defs/deleted" }] },
              "effects": { "anyOf": [{ "$ref": "#/$defs/effects" }, { "$ref": "#/$defs/deleted" }] },
              "rows": { "$ref": "#/$defs/number_patch" }
            }
          }
        },
        "redis": {
          "type": ["object", "null"],
          "additionalProperties": {
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
              "replicas": { "anyOf": [{ "$ref": "#/$defs/int_0_2" }, { "$ref": "#/$defs/deleted" }] },
              "min_replicas": { "anyOf": [{ "$ref": "#/$defs/int_0_2" }, { "$ref": "#/$defs/deleted" }] },
              "persistence": { "anyOf": [{ "$ref": "#/$defs/redis_persistence" }, { "$ref": "#/$defs/deleted" }] },
              "eviction": { "anyOf": [{ "$ref": "#/$defs/redis_eviction" }, { "$ref": "#/$defs/deleted" }] },
              "clocks": { "anyOf": [{ "$ref": "#/$defs/redis_clocks" }, { "$ref": "#/$defs/deleted" }] },
              "resend": { "anyOf": [{ "$ref": "#/$defs/bool" }, { "$ref": "#/$defs/deleted" }] }
            }
          }
        },
        "providers": {
          "type": ["object", "null"],
          "additionalProperties": {
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
              "operations": { "type": ["object", "null"], "additionalProperties": { "type": ["object", "null"] } },
              "lookup": { "anyOf": [{ "$ref": "#/$defs/lookup" }, { "$ref": "#/$defs/deleted" }] },
              "list": { "anyOf": [{ "$ref": "#/$defs/list" }, { "$ref": "#/$defs/deleted" }] },
              "preset": { "anyOf": [{ "$ref": "#/$defs/preset" }, { "$ref": "#/$defs/deleted" }] }
            }
          }
        },
        "services": {
          "type": ["object", "null"],
          "additionalProperties": {
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
              "instances": { "anyOf": [{ "$ref": "#/$defs/instances" }, { "$ref": "#/$defs/deleted" }] },
              "on_request": { "anyOf": [{ "$ref": "#/$defs/steps" }, { "$ref": "#/$defs/deleted" }] },
              "on_start": { "anyOf": [{ "$ref": "#/$defs/steps" }, { "$ref": "#/$defs/deleted" }] },
              "endpoints": { "$ref": "#/$defs/endpoints_patch" },
              "jobs": { "$ref": "#/$defs/jobs_patch" },
              "drain": { "anyOf": [{ "$ref": "#/$defs/drain" }, { "$ref": "#/$defs/deleted" }] },
              "processes": { "anyOf": [{ "$ref": "#/$defs/processes" }, { "$ref": "#/$defs/deleted" }] },
              "next": {
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                  "on_request": { "anyOf": [{ "$ref": "#/$defs/steps" }, { "$ref": "#/$defs/deleted" }] },
                  "on_start": { "anyOf": [{ "$ref": "#/$defs/steps" }, { "$ref": "#/$defs/deleted" }] },
                  "endpoints": { "$ref": "#/$defs/endpoints_patch" },
                  "jobs": { "$ref": "#/$defs/jobs_patch" }
                }
              }
            }
          }
        },
        "queues": {
          "type": ["object", "null"],
          "additionalProperties": {
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
              "to": { "anyOf": [{ "$ref": "#/$defs/receiver" }, { "$ref": "#/$defs/deleted" }] },
              "visibility": { "anyOf": [{ "$ref": "#/$defs/interval" }, { "$ref": "#/$defs/deleted" }] },
              "receives": { "anyOf": [{ "$ref": "#/$defs/receives" }, { "$ref": "#/$defs/deleted" }] }
            }
          }
        },
        "clients": {
          "type": ["object", "null"],
          "additionalProperties": {
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
              "requests": { "anyOf": [{ "$ref": "#/$defs/requests" }, { "$ref": "#/$defs/deleted" }] },
              "clicks": { "anyOf": [{ "$ref": "#/$defs/clicks" }, { "$ref": "#/$defs/deleted" }] },
              "retries": { "anyOf": [{ "$ref": "#/$defs/retries" }, { "$ref": "#/$defs/deleted" }] },
              "retry_on": { "anyOf": [{ "$ref": "#/$defs/retry_on" }, { "$ref": "#/$defs/deleted" }] },
              "timeout": { "anyOf": [{ "$ref": "#/$defs/interval" }, { "$ref": "#/$defs/deleted" }] },
              "backoff": { "anyOf": [{ "type": "object" }, { "$ref": "#/$defs/interval" }, { "$ref": "#/$defs/deleted" }] },
              "poll": { "type": ["object", "null"] },
              "network": { "anyOf": [{ "$ref": "#/$defs/client_network" }, { "$ref": "#/$defs/deleted" }] }
            }
          }
        },
        "faults": { "type": ["object", "null"] },
        "invariants": { "anyOf": [{ "$ref": "#/$defs/invariants" }, { "$ref": "#/$defs/deleted" }] },
        "must_reach": { "anyOf": [{ "$ref": "#/$defs/must_reach" }, { "$ref": "#/$defs/deleted" }] },
        "unreached": {
          "type": ["object", "null"],
          "additionalProperties": { "anyOf": [{ "type": "string", "minLength": 1 }, { "$ref": "#/$defs/deleted" }] }
        },
        "bounds": { "$ref": "#/$defs/number_patch" }
      }
    },
    "endpoints_patch": {
      "type": ["object", "null"],
      "additionalProperties": { "anyOf": [{ "$ref": "#/$defs/steps" }, { "$ref": "#/$defs/deleted" }] }
    },
    "jobs_patch": {
      "type": ["object", "null"],
      "additionalProperties": {
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": {
          "every": { "anyOf": [{ "$ref": "#/$defs/interval" }, { "$ref": "#/$defs/deleted" }] },
          "copies": { "anyOf": [{ "$ref": "#/$defs/copies" }, { "$ref": "#/$defs/deleted" }] },
          "steps": { "anyOf": [{ "$ref": "#/$defs/steps" }, { "$ref": "#/$defs/deleted" }] }
        }
      }
    },
    "number_patch": {
      "type": ["object", "null"],
      "additionalProperties": { "anyOf": [{ "type": ["integer", "null"] }, { "$ref": "#/$defs/param" }] }
    }
)json";

}  // namespace oncecheck::schema_text
