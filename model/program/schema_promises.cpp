#include "model/program/schema_text.hpp"

namespace oncecheck::schema_text {

constinit const std::string_view kPromises = R"json(
    "fault_object": {
      "type": "object",
      "description": "How often, and where. At most one target.",
      "oneOf": [{ "required": ["max"] }, { "required": ["heals"] }],
      "maxProperties": 2,
      "additionalProperties": false,
      "properties": {
        "max": { "$ref": "#/$defs/fault_count" },
        "heals": { "const": false, "description": "In place of 'max': it may happen any number of times, for ever." },
        "service": { "type": "string", "minLength": 1, "description": "Only at this service." },
        "provider": { "type": "string", "minLength": 1, "description": "Only at this provider." },
        "redis": { "type": "string", "minLength": 1, "description": "Only at this redis." },
        "client": { "type": "string", "minLength": 1, "description": "Only at this client." },
        "database": { "type": "string", "minLength": 1, "description": "Only at this database." },
        "queue": { "type": "string", "minLength": 1, "description": "Only at this queue." }
      }
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
    "builtin_invariant": { "enum": [@BUILTINS@] },
    "invariants": {
      "type": "array",
      "description": "What must hold on every schedule.",
      "items": {
        "anyOf": [
          { "$ref": "#/$defs/builtin_invariant" },
          { "$ref": "#/$defs/param" },
          {
            "type": "object",
            "required": ["use"],
            "additionalProperties": false,
            "properties": {
              "use": { "anyOf": [{ "$ref": "#/$defs/builtin_invariant" }, { "$ref": "#/$defs/param" }] },
              "name": { "type": "string", "minLength": 1, "description": "The name to report. Default: 'use'." },
              "ledger": { "type": "string", "minLength": 1, "description": "DATABASE.TABLE of your own records." },
              "identity": { "type": "string", "minLength": 1, "description": "The column that names the operation." },
              "records": { "type": "string", "minLength": 1, "description": "DATABASE.TABLE of records that must not stay open." },
              "open": { "$ref": "#/$defs/expression", "description": "Which of the records are open." },
              "locks": { "$ref": "#/$defs/expression", "description": "Which Redis keys are locks: over redis, key, value and expires." }
            }
          },
          {
            "type": "object",
            "required": ["name", "always_empty"],
            "additionalProperties": false,
            "properties": {
              "name": { "type": "string", "minLength": 1, "description": "The name to report." },
              "always_empty": { "$ref": "#/$defs/sql", "description": "A query that finds nothing in any state." }
            }
          },
          {
            "type": "object",
            "required": ["name", "finally_empty"],
            "additionalProperties": false,
            "properties": {
              "name": { "type": "string", "minLength": 1, "description": "The name to report." },
              "finally_empty": { "$ref": "#/$defs/sql", "description": "A query that finds nothing at rest." }
            }
          },
          {
            "type": "object",
            "required": ["name", "eventually_empty"],
            "additionalProperties": false,
            "properties": {
              "name": { "type": "string", "minLength": 1, "description": "The name to report." },
              "eventually_empty": { "$ref": "#/$defs/sql", "description": "A query no row of which stays for ever once faults have stopped." }
            }
          },
          {
            "type": "object",
            "required": ["name", "never_step", "table"],
            "additionalProperties": false,
            "properties": {
              "name": { "type": "string", "minLength": 1, "description": "The name to report." },
              "never_step": { "$ref": "#/$defs/expression", "description": "A change over OLD and NEW, never made." },
              "table": { "type": "string", "minLength": 1, "description": "DATABASE.TABLE whose rows are watched." }
            }
          }
        ]
      },
      "examples": [["no-duplicate-effect", { "use": "ledger-matches-provider", "ledger": "pay.ledger" }]]
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
