#include "model/program/schema_text.hpp"

namespace oncecheck::schema_text {

constinit const std::string_view kSteps = R"json(
    "steps": {
      "type": "array",
      "description": "Each has one of sql, redis, call, publish, if, while, for_each, set, reply, stop and pause.",
      "items": {
        "anyOf": [
          { "$ref": "#/$defs/sql_step" },
          { "$ref": "#/$defs/redis_step" },
          { "$ref": "#/$defs/call_step" },
          { "$ref": "#/$defs/publish_step" },
          { "$ref": "#/$defs/if_step" },
          { "$ref": "#/$defs/while_step" },
          { "$ref": "#/$defs/for_each_step" },
          { "$ref": "#/$defs/set_step" },
          { "$ref": "#/$defs/reply_step" },
          { "$ref": "#/$defs/stop_step" },
          { "$ref": "#/$defs/pause_step" }
        ]
      }
    },
    "on_database": { "type": "string", "minLength": 1, "description": "The database; needed if there are several." },
    "sql_step": {
      "type": "object",
      "required": ["sql"],
      "additionalProperties": false,
      "properties": {
        "sql": { "$ref": "#/$defs/sql" },
        "on": { "$ref": "#/$defs/on_database" },
        "into": { "$ref": "#/$defs/into" },
        "replica": { "type": "boolean", "description": "Read from the replica, which may lag." },
        "on_error": {
          "description": "What to do when the statement fails: steps for any error, or steps for each class.",
          "anyOf": [
            { "$ref": "#/$defs/steps" },
            {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "any": { "$ref": "#/$defs/steps" },
                "unique_violation": { "$ref": "#/$defs/steps" },
                "not_null_violation": { "$ref": "#/$defs/steps" },
                "check_violation": { "$ref": "#/$defs/steps" },
                "fk_violation": { "$ref": "#/$defs/steps" },
                "serialization_failure": { "$ref": "#/$defs/steps" },
                "deadlock": { "$ref": "#/$defs/steps" },
                "lock_timeout": { "$ref": "#/$defs/steps" },
                "lock_not_available": { "$ref": "#/$defs/steps" },
                "statement_timeout": { "$ref": "#/$defs/steps" },
                "in_failed_transaction": { "$ref": "#/$defs/steps" },
                "connection_lost": { "$ref": "#/$defs/steps" },
                "cardinality_violation": { "$ref": "#/$defs/steps" },
                "no_such_savepoint": { "$ref": "#/$defs/steps" },
                "no_active_transaction": { "$ref": "#/$defs/steps" },
                "read_only_transaction": { "$ref": "#/$defs/steps" },
                "other": { "$ref": "#/$defs/steps" }
              }
            }
          ]
        },
        "as": { "$ref": "#/$defs/label" }
      }
    },
    "redis_step": {
      "type": "object",
      "required": ["redis"],
      "additionalProperties": false,
      "properties": {
        "redis": {
          "type": "string",
          "minLength": 1,
          "description": "A Redis command.",
          "examples": ["SET lock:{:key} {:token} NX PX 30000"]
        },
        "on": { "type": "string", "minLength": 1, "description": "The redis; needed if there are several." },
        "into": { "$ref": "#/$defs/into" },
        "replica": { "type": "boolean", "description": "Read from a replica, which may lag." },
        "on_error": {
          "description": "What to do when the command fails: steps for any error, or steps for each class.",
          "anyOf": [
            { "$ref": "#/$defs/steps" },
            {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "any": { "$ref": "#/$defs/steps" },
                "noreplicas": { "$ref": "#/$defs/steps" },
                "not_an_integer": { "$ref": "#/$defs/steps" },
                "execabort": { "$ref": "#/$defs/steps" },
                "connection_lost": { "$ref": "#/$defs/steps" },
                "other": { "$ref": "#/$defs/steps" }
              }
            }
          ]
        },
        "as": { "$ref": "#/$defs/label" }
      }
    },
    "call_step": {
      "type": "object",
      "description": "A call of a provider or of another service. Any other key is an argument: an SQL expression or a number.",
      "required": ["call"],
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "properties": {
        "call": {
          "type": "string",
          "pattern": "^[A-Za-z0-9_-]{1,64}(\\.[A-Za-z0-9_-]{1,64})?$|\\$\\{",
          "description": "PROVIDER.OPERATION, SERVICE or SERVICE.ENDPOINT",
          "examples": ["stripe.charge"]
        },
        "timeout": { "$ref": "#/$defs/interval" },
        "into": { "$ref": "#/$defs/into" },
        "on_timeout": { "$ref": "#/$defs/steps", "description": "What to do when no answer comes in time." },
        "on_error": {
          "description": "What to do when the answer is no success: steps for any error, or steps for each class.",
          "anyOf": [
            { "$ref": "#/$defs/steps" },
            {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "any": { "$ref": "#/$defs/steps" },
                "declined": { "$ref": "#/$defs/steps" },
                "conflict": { "$ref": "#/$defs/steps" },
                "exists": { "$ref": "#/$defs/steps" },
                "refused": { "$ref": "#/$defs/steps" },
                "not_found": { "$ref": "#/$defs/steps" },
                "5xx": { "$ref": "#/$defs/steps" },
                "4xx": { "$ref": "#/$defs/steps" }
              }
            }
          ]
        },
        "resends": {
          "description": "How often the client library sends the same request again by itself after a time-out.",
          "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 4 }, { "$ref": "#/$defs/param" }],
          "default": 0
        },
        "as": { "$ref": "#/$defs/label" },
        "sql": false, "redis": false, "publish": false, "if": false, "while": false, "for_each": false,
        "set": false, "reply": false, "stop": false, "pause": false
      },
      "additionalProperties": { "$ref": "#/$defs/expression" },
      "examples": [{ "call": "stripe.charge", "key": ":key", "amount": ":amount", "timeout": "30s", "into": "charge" }]
    },
    "publish_step": {
      "type": "object",
      "description": "Puts a message into a queue. Any other key is a field of the message: an SQL expression or a number.",
      "required": ["publish"],
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "properties": {
        "publish": { "type": "string", "minLength": 1, "description": "The name of a queue." },
        "on_error": {
          "description": "What to do when the queue does not answer.",
          "anyOf": [
            { "$ref": "#/$defs/steps" },
            {
              "type": "object",
              "additionalProperties": false,
              "properties": { "any": { "$ref": "#/$defs/steps" }, "connection_lost": { "$ref": "#/$defs/steps" } }
            }
          ]
        },
        "as": { "$ref": "#/$defs/label" },
        "sql": false, "redis": false, "call": false, "if": false, "while": false, "for_each": false,
        "set": false, "reply": false, "stop": false, "pause": false
      },
      "additionalProperties": { "$ref": "#/$defs/expression" },
      "examples": [{ "publish": "emails", "key": ":key" }]
    },
    "if_step": {
      "type": "object",
      "required": ["if", "then"],
      "additionalProperties": false,
      "properties": {
        "if": { "$ref": "#/$defs/expression" },
        "then": { "$ref": "#/$defs/steps" },
        "else": { "$ref": "#/$defs/steps" },
        "as": { "$ref": "#/$defs/label" }
      }
    },
    "while_step": {
      "type": "object",
      "required": ["while", "do"],
      "additionalProperties": false,
      "properties": {
        "while": { "$ref": "#/$defs/expression" },
        "do": { "$ref": "#/$defs/steps" },
        "as": { "$ref": "#/$defs/label" }
      }
    },
    "for_each_step": {
      "type": "object",
      "required": ["for_each", "into", "do"],
      "additionalProperties": false,
      "properties": {
        "for_each": { "$ref": "#/$defs/sql" },
        "on": { "$ref": "#/$defs/on_database" },
        "into": { "$ref": "#/$defs/into" },
        "do": { "$ref": "#/$defs/steps" },
        "as": { "$ref": "#/$defs/label" }
      }
    },
    "set_step": {
      "type": "object",
      "required": ["set"],
      "additionalProperties": false,
      "properties": {
        "set": {
          "type": "object",
          "description": "Locals, each with the expression whose value it takes.",
          "minProperties": 1,
          "propertyNames": { "$ref": "#/$defs/local_name" },
          "additionalProperties": { "$ref": "#/$defs/expression" },
          "examples": [{ "tries": ":tries + 1" }]
        },
        "as": { "$ref": "#/$defs/label" }
      }
    },
    "reply_step": {
      "type": "object",
      "required": ["reply"],
      "additionalProperties": false,
      "properties": {
        "reply": {
          "description": "The HTTP status that the caller gets.",
          "anyOf": [{ "type": "integer", "minimum": 100, "maximum": 599 }, { "$ref": "#/$defs/param" }]
        },
        "body": { "$ref": "#/$defs/expression" },
        "means": {
          "description": "What the caller is told, if the status does not say it.",
          "anyOf": [{ "enum": ["ok", "failed", "accepted", "unknown"] }, { "$ref": "#/$defs/param" }]
        },
        "continue": { "$ref": "#/$defs/bool", "default": false, "description": "Whether the handler goes on." },
        "as": { "$ref": "#/$defs/label" }
      }
    },
    "stop_step": {
      "type": "object",
      "description": "The program ends here.",
      "required": ["stop"],
      "additionalProperties": false,
      "properties": { "stop": { "const": true }, "as": { "$ref": "#/$defs/label" } }
    },
    "pause_step": {
      "type": "object",
      "description": "Others may act between the step before and the step after.",
      "required": ["pause"],
      "additionalProperties": false,
      "properties": { "pause": { "const": true }, "as": { "$ref": "#/$defs/label" } }
    },
)json";

}  // namespace oncecheck::schema_text
