#include "model/program/schema_text.hpp"

namespace oncecheck::schema_text {

constinit const std::string_view kParts = R"json(
    "title": { "type": "string", "minLength": 1, "description": "What the scenario is about, in one line." },
    "param": {
      "type": "string",
      "pattern": "^\\$\\{[A-Za-z0-9_.-]{1,64}\\}$",
      "description": "The value of a parameter: \"${name}\"."
    },
    "deleted": { "type": "null", "description": "Deletes what the file has here." },
    "scalar": {
      "type": ["string", "integer", "boolean", "null"],
      "description": "A string, a whole number, true, false or null."
    },
    "text": { "type": "string", "minLength": 1 },
    "part_name": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" },
    "local_name": {
      "type": "string",
      "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$",
      "description": "A name that SQL can use as :name."
    },
    "into": {
      "description": "The local that receives the result. SQL reads it as :name.field.",
      "anyOf": [{ "$ref": "#/$defs/local_name" }, { "$ref": "#/$defs/param" }],
      "examples": ["claim"]
    },
    "label": { "type": "string", "minLength": 1, "description": "A name for this step in traces." },
    "interval": {
      "type": "string",
      "description": "A time: a whole number and ms, s, m, h or d (or second, minutes, ...).",
      "pattern": "^(?=[0-9]*[1-9])[0-9]{1,9} ?(ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)$|\\$\\{",
      "examples": ["30s", "250ms", "10 minutes", "24h", "1 day"]
    },
    "bool": { "anyOf": [{ "type": "boolean" }, { "$ref": "#/$defs/param" }] },
    "int_1_32": { "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 32 }, { "$ref": "#/$defs/param" }] },
    "int_1_16": { "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 16 }, { "$ref": "#/$defs/param" }] },
    "int_0_32": { "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 32 }, { "$ref": "#/$defs/param" }] },
    "int_0_16": { "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 16 }, { "$ref": "#/$defs/param" }] },
    "int_min": { "anyOf": [{ "type": "integer", "minimum": -1000, "maximum": 0 }, { "$ref": "#/$defs/param" }] },
    "int_max": { "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 1000 }, { "$ref": "#/$defs/param" }] },
    "count": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "$ref": "#/$defs/param" }] },
    "sql": {
      "description": "SQL, in place or in a file next to the scenario. :name reads a request field or a local.",
      "anyOf": [
        { "$ref": "#/$defs/text" },
        {
          "type": "object",
          "required": ["file"],
          "additionalProperties": false,
          "properties": {
            "file": { "type": "string", "minLength": 1, "description": "A path, relative to the scenario." }
          }
        }
      ],
      "examples": ["UPDATE intent SET state = 'DONE' WHERE id = :key", { "file": "queries/claim.sql" }]
    },
    "sql_texts": {
      "type": "array",
      "description": "CREATE TABLE, CREATE INDEX and INSERT statements that make the database.",
      "items": { "$ref": "#/$defs/sql" },
      "examples": [["CREATE TABLE intent (id text PRIMARY KEY, state text NOT NULL)"]]
    },
    "expression": {
      "description": "An SQL expression. :name reads a request field or a local.",
      "anyOf": [{ "$ref": "#/$defs/text" }, { "type": "integer" }, { "type": "boolean" }],
      "examples": [":key", ":claim.count = 0", 100]
    },
    "engine": {
      "description": "Which database it behaves like.",
      "anyOf": [{ "enum": ["postgres", "mysql", "mariadb"] }, { "$ref": "#/$defs/param" }]
    },
    "isolation": {
      "description": "The isolation level. Default: read committed for postgres, repeatable read for the others.",
      "anyOf": [{ "enum": ["read uncommitted", "read committed", "repeatable read", "serializable"] }, { "$ref": "#/$defs/param" }]
    },
    "replicas": {
      "description": "Read replicas: 0 or 1.",
      "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 1 }, { "$ref": "#/$defs/param" }]
    },
    "replication": {
      "description": "Whether a COMMIT waits for the replica. Default: asynchronous.",
      "anyOf": [{ "enum": ["asynchronous", "synchronous"] }, { "$ref": "#/$defs/param" }]
    },
    "pool": {
      "type": "object",
      "description": "A pool between the services and the database. Default: each handler has a connection of its own.",
      "required": ["mode", "connections"],
      "additionalProperties": false,
      "properties": {
        "mode": {
          "description": "transaction: a connection goes back when the transaction, or the statement outside of one, has ended.",
          "anyOf": [{ "enum": ["transaction"] }, { "$ref": "#/$defs/param" }]
        },
        "connections": {
          "description": "How many connections to the server it has.",
          "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 8 }, { "$ref": "#/$defs/param" }]
        }
      },
      "examples": [{ "mode": "transaction", "connections": 2 }]
    },
    "effects": {
      "type": "array",
      "description": "Tables whose rows are effects: two rows for one operation are a duplicate.",
      "items": {
        "anyOf": [
          { "$ref": "#/$defs/text" },
          {
            "type": "object",
            "required": ["table"],
            "additionalProperties": false,
            "properties": {
              "table": { "type": "string", "minLength": 1, "description": "The name of the table." },
              "identity": {
                "type": "string",
                "minLength": 1,
                "description": "The column that says which operation a row is for. Default: the first column."
              }
            }
          }
        ]
      },
      "examples": [["orders", { "table": "ledger", "identity": "intent_id" }]]
    },
    "int_0_2": { "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 2 }, { "$ref": "#/$defs/param" }] },
    "redis_persistence": {
      "description": "What a restart finds: nothing, all but the latest writes, or everything.",
      "anyOf": [{ "enum": ["none", "everysec", "always"] }, { "$ref": "#/$defs/param" }]
    },
    "redis_eviction": {
      "description": "Which keys the server may evict when its memory is full (maxmemory-policy).",
      "anyOf": [{ "enum": ["none", "volatile", "allkeys"] }, { "$ref": "#/$defs/param" }]
    },
    "redis_clocks": {
      "description": "Whether a time to live may pass on one node before it passes on another.",
      "anyOf": [{ "enum": ["agree", "differ"] }, { "$ref": "#/$defs/param" }]
    },
    "idempotency_key": {
      "description": "honoured: the same key again does nothing new. ignored: a key has no use. sometimes: honoured or not, as it comes. none: it takes no key.",
      "anyOf": [{ "enum": ["honoured", "ignored", "sometimes", "none"] }, { "$ref": "#/$defs/param" }],
      "default": "none"
    },
    "stores": {
      "description": "What is replayed under the same key: only what succeeded, or the first answer whatever it was.",
      "anyOf": [{ "enum": ["successes", "everything"] }, { "$ref": "#/$defs/param" }],
      "default": "successes"
    },
    "other_parameters": {
      "description": "The same key with another amount: the first answer again, or 422.",
      "anyOf": [{ "enum": ["same_answer", "refused"] }, { "$ref": "#/$defs/param" }],
      "default": "same_answer"
    },
    "in_flight": {
      "description": "The same key while the first request is being carried out: it waits, or is answered 409.",
      "anyOf": [{ "enum": ["waits", "conflict"] }, { "$ref": "#/$defs/param" }],
      "default": "waits"
    },
    "undoes": { "type": "string", "minLength": 1, "description": "The operation whose effect this one takes back: a refund, a void." },
    "cancels": { "type": "string", "minLength": 1, "description": "The operation whose key this one refuses for good, if it has had no effect yet." },
    "object": {
      "description": "What the operation of an object store does: PUT, PUT with If-None-Match: *, DELETE.",
      "anyOf": [{ "enum": ["put", "put_new", "delete"] }, { "$ref": "#/$defs/param" }]
    },
    "list": {
      "description": "Whether a LIST of an object store sees what was just put.",
      "anyOf": [{ "enum": ["consistent", "lagging"] }, { "$ref": "#/$defs/param" }]
    },
    "webhook": {
      "type": "object",
      "description": "A message that the provider sends when something has happened.",
      "required": ["to"],
      "additionalProperties": false,
      "properties": {
        "to": { "$ref": "#/$defs/receiver" },
        "on": { "type": "array", "items": { "anyOf": [{ "enum": ["succeeded", "declined", "undone"] }, { "$ref": "#/$defs/param" }] } },
        "retries": { "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 9 }, { "$ref": "#/$defs/param" }], "description": "How often it is sent again after anything but 2xx." }
      }
    },
    "preset": {
      "description": "A provider as it is documented; `oncecheck list providers` shows them.",
      "anyOf": [{ "enum": [@PRESETS@] }, { "$ref": "#/$defs/param" }]
    },
    "receiver": { "type": "string", "minLength": 1, "description": "SERVICE or SERVICE.ENDPOINT" },
    "receives": {
      "description": "How often a message is delivered before it is a dead letter. Default: without end.",
      "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 100 }, { "$ref": "#/$defs/param" }]
    },
    "endpoints": {
      "type": "object",
      "description": "More programs that take requests, by name: called as SERVICE.ENDPOINT.",
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": { "$ref": "#/$defs/steps" }
    },
    "jobs": {
      "type": "object",
      "description": "Work that recurs, by name: a reconciler, an outbox relay.",
      "propertyNames": { "$ref": "#/$defs/part_name" },
      "additionalProperties": {
        "type": "object",
        "required": ["every", "steps"],
        "additionalProperties": false,
        "properties": {
          "every": { "$ref": "#/$defs/interval" },
          "copies": { "$ref": "#/$defs/copies" },
          "steps": { "$ref": "#/$defs/steps" }
        }
      }
    },
    "copies": {
      "description": "How many of this job may run at once.",
      "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 4 }, { "$ref": "#/$defs/param" }],
      "default": 1
    },
    "drain": {
      "description": "Whether a deploy lets running work end, or for how long at most.",
      "anyOf": [{ "type": "boolean" }, { "$ref": "#/$defs/interval" }],
      "default": false
    },
    "processes": {
      "description": "What a crash stops: all that runs in an instance, or one request or job. Default: shared.",
      "anyOf": [{ "enum": ["shared", "per_request"] }, { "$ref": "#/$defs/param" }]
    },
    "client_network": {
      "description": "instant: requests of this client are taken at once, and so are the answers. Default: asynchronous.",
      "anyOf": [{ "enum": ["asynchronous", "instant"] }, { "$ref": "#/$defs/param" }]
    },
    "poll": {
      "type": "object",
      "description": "After 202 the client asks here, with the same key and fields.",
      "required": ["to", "times"],
      "additionalProperties": false,
      "properties": {
        "to": { "$ref": "#/$defs/receiver" },
        "times": { "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 9 }, { "const": "unlimited" }, { "$ref": "#/$defs/param" }] }
      }
    },
    "may_decline": {
      "description": "Whether the provider may also answer 402 and do nothing.",
      "anyOf": [{ "type": "boolean" }, { "$ref": "#/$defs/param" }],
      "default": false
    },
    "lookup": {
      "description": "Whether callers can ask what became of an operation. Leave it out if they cannot.",
      "anyOf": [{ "enum": ["consistent", "lagging", "instant"] }, { "$ref": "#/$defs/param" }]
    },
    "instances": {
      "description": "How many copies of the service run.",
      "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 4 }, { "$ref": "#/$defs/param" }],
      "default": 1
    },
    "requests": {
      "type": "array",
      "description": "What the client sends, one request after the other.",
      "minItems": 1,
      "maxItems": 4,
      "items": {
        "type": "object",
        "required": ["to"],
        "propertyNames": { "$ref": "#/$defs/local_name" },
        "properties": {
          "to": { "$ref": "#/$defs/receiver" },
          "key": {
            "description": "The idempotency key, a fresh one for each click or each attempt, or one made from fields.",
            "anyOf": [
              { "$ref": "#/$defs/scalar" },
              {
                "type": "object",
                "required": ["fresh"],
                "additionalProperties": false,
                "properties": {
                  "fresh": { "anyOf": [{ "enum": ["per_click", "per_attempt"] }, { "$ref": "#/$defs/param" }] }
                }
              },
              {
                "type": "object",
                "required": ["from"],
                "additionalProperties": false,
                "properties": {
                  "from": {
                    "type": "array",
                    "minItems": 1,
                    "description": "Fields of the request, \"click\" and \"attempt\": what changes with either is volatile.",
                    "items": { "type": "string", "minLength": 1 }
                  }
                }
              }
            ],
            "examples": ["K1", { "fresh": "per_click" }]
          },
          "identity": {
            "type": "string",
            "minLength": 1,
            "description": "Which operation this is, for judging. Default: the key."
          }
        },
        "additionalProperties": { "$ref": "#/$defs/scalar" },
        "examples": [{ "to": "checkout", "key": "K1", "amount": 100 }]
      }
    },
    "clicks": {
      "description": "How many times the user sends each request, at any time after the first.",
      "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 6 }, { "$ref": "#/$defs/param" }],
      "default": 1
    },
    "retries": {
      "description": "How many times the client program tries again, per click.",
      "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 6 }, { "const": "unlimited" }, { "$ref": "#/$defs/param" }],
      "default": 0
    },
    "backoff": {
      "description": "How long the client waits before it sends again: always the same time, or one that grows.",
      "anyOf": [
        { "$ref": "#/$defs/interval" },
        {
          "type": "object",
          "required": ["initial"],
          "additionalProperties": false,
          "properties": {
            "initial": { "$ref": "#/$defs/interval" },
            "factor": { "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 10 }, { "$ref": "#/$defs/param" }] },
            "max": { "$ref": "#/$defs/interval" }
          }
        }
      ]
    },
    "retry_on": {
      "type": "array",
      "description": "After what it tries again. unknown: 202, 409 or 429. failed: any other 4xx.",
      "items": { "anyOf": [{ "enum": ["timeout", "5xx", "unknown", "failed"] }, { "$ref": "#/$defs/param" }] },
      "default": ["timeout", "5xx"]
    },
)json";

}  // namespace oncecheck::schema_text
