#include "model/program/schema_text.hpp"

namespace oncecheck::schema_text {

constinit const std::string_view kPromises = R"json(
    "fault_object": {
      "type": "object",
      "description": "How often, and where. At most one target.",
      "oneOf": [{ "required": ["max"] }, { "required": ["heals"] }],
      "anyOf": [{ "maxProperties": 2 }, { "required": ["otherwise"], "maxProperties": 3 }],
      "additionalProperties": false,
      "properties": {
        "max": { "$ref": "#/$defs/fault_count" },
        "heals": { "const": false, "description": "In place of 'max': it may happen any number of times, for ever." },
        "otherwise": { "enum": ["free", "never"], "description": "For timeout and expire. never: these timers run out only when this budget pays. Default: free." },
        "service": { "type": "string", "minLength": 1, "description": "Only at this service." },
        "provider": { "type": "string", "minLength": 1, "description": "Only at this provider." },
        "redis": { "type": "string", "minLength": 1, "description": "Only at this redis." },
        "client": { "type": "string", "minLength": 1, "description": "Only at this client." },
        "database": { "type": "string", "minLength": 1, "description": "Only at this database." },
        "queue": { "type": "string", "minLength": 1, "description": "Only at this queue." }
      }
    },
    "partition_object": {
      "type": "object",
      "description": "How often, and the groups that are cut off from each other.",
      "required": ["max", "groups"],
      "additionalProperties": false,
      "properties": {
        "max": { "$ref": "#/$defs/fault_count" },
        "groups": {
          "type": "array",
          "minItems": 2,
          "items": {
            "type": "array",
            "minItems": 1,
            "description": "Services, instances (\"checkout/1\"), clients, databases, redis, providers and queues.",
            "items": { "type": "string", "minLength": 1 }
          }
        }
      }
    },
    "partition": {
      "description": "How often at most (0 to 9) a Redis primary is cut off, or an object with a redis or with groups, or a list.",
      "anyOf": [
        { "$ref": "#/$defs/fault" },
        { "$ref": "#/$defs/partition_object" },
        { "type": "array", "minItems": 1, "items": { "anyOf": [{ "$ref": "#/$defs/fault_object" }, { "$ref": "#/$defs/partition_object" }] } }
      ]
    },
    "fault_count": { "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 9 }, { "$ref": "#/$defs/param" }] },
    "fault": {
      "description": "How often at most (0 to 9), or an object with a target, or a list of such objects.",
      "anyOf": [
        { "$ref": "#/$defs/fault_count" },
        { "$ref": "#/$defs/fault_object" },
        { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/fault_object" } }
      ]
    },
    "promise_value": { "type": ["string", "integer", "boolean", "null"] },
    "builtin_invariant": { "enum": [@BUILTINS@] },
    "invariants": {
      "type": "array",
      "description": "What must hold on every schedule.",
      "items": {
        "anyOf": [
          { "$ref": "#/$defs/builtin_invariant" },
          { "$ref": "#/$defs/param" },
          @PROMISES@
          {
            "type": "object",
            "description": "A parameter names the promise; which others it takes is not known here.",
            "required": ["use"],
            "properties": {
              "use": { "$ref": "#/$defs/param" },
              "name": { "type": "string", "minLength": 1 }
            }
          },
          {
            "type": "object",
            "required": ["name", "always_empty"],
            "additionalProperties": false,
            "properties": {
              "name": { "type": "string", "minLength": 1, "description": "The name to report." },
              "always_empty": { "$ref": "#/$defs/sql", "description": "A query that finds nothing in any state." },
              "premise": { "$ref": "#/$defs/sql", "description": "A query: a row of it is something that the promise judges." }
            }
          },
          {
            "type": "object",
            "required": ["name", "finally_empty"],
            "additionalProperties": false,
            "properties": {
              "name": { "type": "string", "minLength": 1, "description": "The name to report." },
              "finally_empty": { "$ref": "#/$defs/sql", "description": "A query that finds nothing at rest." },
              "premise": { "$ref": "#/$defs/sql", "description": "A query: a row of it is something that the promise judges." }
            }
          },
          {
            "type": "object",
            "required": ["name", "eventually_empty"],
            "additionalProperties": false,
            "properties": {
              "name": { "type": "string", "minLength": 1, "description": "The name to report." },
              "eventually_empty": { "$ref": "#/$defs/sql", "description": "A query no row of which stays for ever once faults have stopped." },
              "premise": { "$ref": "#/$defs/sql", "description": "A query: a row of it is something that the promise judges." }
            }
          },
          {
            "type": "object",
            "required": ["name", "never_step", "table"],
            "additionalProperties": false,
            "properties": {
              "name": { "type": "string", "minLength": 1, "description": "The name to report." },
              "never_step": { "$ref": "#/$defs/expression", "description": "A change over OLD and NEW, never made." },
              "table": { "type": "string", "minLength": 1, "description": "DATABASE.TABLE whose rows are watched." },
              "premise": { "$ref": "#/$defs/sql", "description": "A query: a row of it is something that the promise judges." }
            }
          }
        ]
      },
      "examples": [["no-duplicate-effect", { "use": "ledger-matches-provider", "ledger": "pay.ledger" }]]
    },
    "must_reach": {
      "type": "array",
      "description": "What has to happen on some schedule. A check in which it never does is vacuous.",
      "items": {
        "anyOf": [
          { "$ref": "#/$defs/occurrence" },
          { "$ref": "#/$defs/param" },
          { "$ref": "#/$defs/mark" }
        ]
      },
      "examples": [["retry-in-flight", { "name": "a lease is taken over", "step": "checkout on_request/1/then" }]]
    },
    "occurrence": { "enum": [@OCCURRENCES@] },
    "mark": {
      "type": "object",
      "description": "A name to report, and one way to say what is reached.",
      "required": ["name"],
      "minProperties": 2,
      "maxProperties": 2,
      "additionalProperties": false,
      "properties": {
        "name": { "type": "string", "minLength": 1, "description": "The name to report." },
        "happens": { "anyOf": [{ "$ref": "#/$defs/occurrence" }, { "$ref": "#/$defs/param" }], "description": "What 'oncecheck list occurrences' explains." },
        "finds": { "$ref": "#/$defs/sql", "description": "A query that finds a row in some state." },
        "step": { "type": "string", "minLength": 1, "description": "The place of a step or a branch, or what 'as' calls a step." },
        "fault": { "type": "string", "minLength": 1, "description": "A fault that strikes." }
      }
    },
    "unreached": {
      "type": "object",
      "description": "What is known never to be reached, as reports call it, with the reason.",
      "additionalProperties": { "type": "string", "minLength": 1 },
      "examples": [{ "checkout on_request/1/else": "The key is always new here." }]
    },
    "verdict": { "anyOf": [{ "enum": ["holds", "violated"] }, { "$ref": "#/$defs/param" }] },
    "expect": {
      "description": "The verdict to come: one for all, or one for each invariant. Those left out must hold.",
      "anyOf": [
        { "$ref": "#/$defs/verdict" },
        {
          "type": "object",
          "properties": {
            "states": { "$ref": "#/$defs/count", "description": "How many states the search must find." },
            "transitions": { "$ref": "#/$defs/count", "description": "How many transitions the search must find." },
            "depth": { "$ref": "#/$defs/count", "description": "How deep the search must go." }
          },
          "additionalProperties": { "$ref": "#/$defs/verdict" }
        }
      ],
      "examples": ["holds", { "ledger-matches-provider": "violated" }]
    },
)json";

}  // namespace oncecheck::schema_text
