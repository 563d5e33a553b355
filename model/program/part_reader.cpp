#include "model/program/part_reader.hpp"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/program/each_part.hpp"
#include "model/program/sql_parser.hpp"

namespace oncecheck {
namespace {

EffectTable read_effect_table(const JsonNode& node, NodeReader& reader) {
  EffectTable out;
  if (!node.is(JsonNode::Kind::Object)) {
    out.table = reader.text(node, "the name of a table, or {\"table\": NAME, \"identity\": COLUMN}");
    return out;
  }
  reader.check_keys(node, "a table of effects", {"table", "identity"});
  if (const JsonNode* table = reader.required(node, "table", "a table of effects")) {
    out.table = reader.text(*table, "the name of a table");
  }
  if (const JsonNode* identity = node.find("identity")) out.identity = reader.string(*identity, "the name of a column");
  return out;
}

// How many connections it has; 0 after a mistake.
int read_pool(const JsonNode& node, NodeReader& reader) {
  if (!reader.is_object(node, "a pool of connections")) return 0;
  reader.check_keys(node, "a pool", {"mode", "connections"});
  if (const JsonNode* mode = reader.required(node, "mode", "a pool")) reader.choice(*mode, {"transaction"});
  const JsonNode* connections = reader.required(node, "connections", "a pool");
  return connections == nullptr ? 0 : reader.integer(*connections, 1, 8);
}

Database read_database(const JsonNode& node, NodeReader& reader) {
  Database out;
  out.at = reader.at(node);
  reader.check_keys(node, "a database", {"engine", "isolation", "schema", "effects", "rows", "replicas", "replication", "pool"});
  if (const JsonNode* engine = reader.required(node, "engine", "a database")) {
    out.engine = {reader.choice(*engine, {"postgres", "mysql", "mariadb"}), reader.at(*engine)};
  }
  out.isolation = {out.engine.value == "postgres" ? "read committed" : "repeatable read", out.at};
  if (const JsonNode* isolation = node.find("isolation")) {
    const Names levels = {"read uncommitted", "read committed", "repeatable read", "serializable"};
    out.isolation = {reader.choice(*isolation, levels), reader.at(*isolation)};
  }
  if (const JsonNode* replicas = node.find("replicas")) out.replicas = reader.integer(*replicas, 0, 1);
  if (const JsonNode* replication = node.find("replication")) {
    out.synchronous = reader.choice(*replication, {"asynchronous", "synchronous"}) == "synchronous";
  }
  if (const JsonNode* pool = node.find("pool")) out.pooled = read_pool(*pool, reader);
  if (const JsonNode* schema = node.find("schema"); schema != nullptr && reader.is_array(*schema, "SQL statements")) {
    for (const JsonNode& statement : schema->children) out.schema.push_back(reader.sql(statement));
  }
  if (const JsonNode* effects = node.find("effects"); effects != nullptr && reader.is_array(*effects, "tables")) {
    for (const JsonNode& table : effects->children) out.effects.push_back(read_effect_table(table, reader));
  }
  if (const JsonNode* rows = node.find("rows");
      rows != nullptr && reader.is_object(*rows, "the most row versions of each table")) {
    for (const JsonNode& table : rows->children) out.row_bounds[table.key] = reader.integer(table, 1, 32);
  }
  return out;
}

void read_key(const JsonNode& node, NodeReader& reader, Request& out) {
  if (!node.is(JsonNode::Kind::Object)) {
    out.fields.emplace_back("key", reader.scalar(node));
    return;
  }
  reader.check_keys(node, "a key", {"fresh", "from"});
  if (const JsonNode* from = node.find("from")) {
    if (const JsonNode* fresh = node.find("fresh")) reader.key_mistake(*fresh, "a key is either fresh or made from fields");
    if (!reader.is_array(*from, "the fields that the key is made from")) return;
    if (from->children.empty()) reader.mistake(*from, "'from': expected at least one field");
    for (const JsonNode& field : from->children) out.key_from.push_back(reader.text(field, "the name of a field, \"click\" or \"attempt\""));
    return;
  }
  if (const JsonNode* fresh = reader.required(node, "fresh", "a fresh key")) {
    out.fresh_key =
        reader.choice(*fresh, {"per_click", "per_attempt"}) == "per_click" ? FreshKey::PerClick : FreshKey::PerAttempt;
  }
}

// Any other key of a request is a field, so a misspelled "to" shows only by its absence.
void read_receiver(const JsonNode& node, NodeReader& reader, Request& out) {
  if (const JsonNode* to = node.find("to")) {
    out.to = reader.text(*to, "a service, or SERVICE.ENDPOINT");
    return;
  }
  for (const JsonNode& field : node.children) {
    if (nearest_name(field.key, {"to"}).empty()) continue;
    reader.key_mistake(field, fmt::format("unknown key {} in a request, which needs 'to'", in_quotes(field.key)), "to");
    return;
  }
  reader.required(node, "to", "a request");
}

Request read_request(const JsonNode& node, NodeReader& reader) {
  Request out;
  out.at = reader.at(node);
  if (!reader.is_object(node, "a request")) return out;
  static const Names own = {"to", "key", "identity"};
  read_receiver(node, reader, out);
  for (const JsonNode& field : node.children) {
    if (field.key == "to") continue;
    if (field.key == "key") {
      read_key(field, reader, out);
    } else if (field.key == "identity") {
      out.identity = reader.string(field, "a name for this operation");
    } else if (field.is(JsonNode::Kind::Object) || field.is(JsonNode::Kind::Array)) {
      reader.wrong(field, "a field of the request (a string, a whole number, true, false or null)",
                   nearest_name(field.key, own));
    } else {
      reader.check_local_name(field, "a request field");
      out.fields.emplace_back(field.key, reader.scalar(field));
    }
  }
  return out;
}

int count_or_unlimited(const JsonNode& node, int lowest, int highest, NodeReader& reader) {
  if (node.is(JsonNode::Kind::String) && node.string == "unlimited") return kUnlimited;
  if (node.is(JsonNode::Kind::String) && !nearest_name(node.string, {"unlimited"}).empty()) {
    reader.wrong(node, fmt::format("a whole number from {} to {} or \"unlimited\"", lowest, highest), "unlimited");
    return lowest;
  }
  return reader.integer(node, lowest, highest);
}

// "1s", or an object.
Backoff read_backoff(const JsonNode& node, const Client& client, NodeReader& reader) {
  Backoff out;
  if (client.retries == 0) reader.key_mistake(node, "'backoff' is how long a client waits before it tries again; this one has no 'retries'");
  if (!node.is(JsonNode::Kind::Object)) {
    out.initial = reader.interval(node);
    return out;
  }
  reader.check_keys(node, "'backoff'", {"initial", "factor", "max"});
  if (const JsonNode* initial = reader.required(node, "initial", "'backoff'")) out.initial = reader.interval(*initial);
  if (const JsonNode* factor = node.find("factor")) out.factor = reader.integer(*factor, 1, 10);
  if (const JsonNode* max = node.find("max")) {
    out.max = reader.interval(*max);
    if (is_interval(out.initial.value) && is_interval(out.max->value) && sql::parse_interval(out.max->value) < sql::parse_interval(out.initial.value)) {
      reader.mistake(*max, fmt::format("'max' is less than 'initial', which is {}", in_quotes(out.initial.value)));
    }
  }
  return out;
}

Client read_client(const JsonNode& node, NodeReader& reader) {
  Client out;
  out.at = reader.at(node);
  reader.check_keys(node, "a client", {"requests", "clicks", "retries", "retry_on", "timeout", "backoff", "poll", "network"});
  const JsonNode* requests = reader.required(node, "requests", "a client");
  if (requests != nullptr && reader.is_array(*requests, "requests")) {
    if (requests->children.empty() || requests->children.size() > 4) {
      reader.mistake(*requests,
                     fmt::format("'requests': expected 1 to 4 requests, found {}", requests->children.size()));
    }
    for (const JsonNode& request : requests->children) out.requests.push_back(read_request(request, reader));
  }
  if (const JsonNode* clicks = node.find("clicks")) out.clicks = reader.integer(*clicks, 1, 6);
  if (const JsonNode* retries = node.find("retries")) out.retries = count_or_unlimited(*retries, 0, 6, reader);
  if (const JsonNode* timeout = node.find("timeout")) out.timeout = reader.interval(*timeout);
  if (const JsonNode* network = node.find("network")) out.instant = reader.choice(*network, {"asynchronous", "instant"}) == "instant";
  if (const JsonNode* backoff = node.find("backoff")) out.backoff = read_backoff(*backoff, out, reader);
  if (const JsonNode* poll = node.find("poll"); poll != nullptr && reader.is_object(*poll, "how the client polls")) {
    reader.check_keys(*poll, "'poll'", {"to", "times"});
    out.poll.emplace();
    if (const JsonNode* to = reader.required(*poll, "to", "'poll'")) out.poll->to = reader.text(*to, "a service, or SERVICE.ENDPOINT");
    if (const JsonNode* times = reader.required(*poll, "times", "'poll'")) out.poll->times = count_or_unlimited(*times, 1, 9, reader);
  }
  const JsonNode* retry_on = node.find("retry_on");
  if (retry_on == nullptr) {
    out.retry_on = {"timeout", "5xx"};
  } else if (reader.is_array(*retry_on, "reasons to retry")) {
    for (const JsonNode& reason : retry_on->children) {
      out.retry_on.push_back(reader.choice(reason, {"timeout", "5xx", "unknown", "failed"}));
    }
  }
  return out;
}

}  // namespace

void read_databases(const JsonNode& document, NodeReader& reader, Scenario& out) {
  for_each_part(document, "databases", "a database", reader,
                [&](const JsonNode& part) { out.databases.emplace_back(part.key, read_database(part, reader)); });
}

void read_redis(const JsonNode& document, NodeReader& reader, Scenario& out) {
  for_each_part(document, "redis", "a redis", reader, [&](const JsonNode& part) {
    Redis redis;
    redis.at = reader.at(part);
    reader.check_keys(part, "a redis", {"replicas", "min_replicas", "persistence", "eviction", "clocks", "resend"});
    if (const JsonNode* replicas = part.find("replicas")) redis.replicas = reader.integer(*replicas, 0, 2);
    if (const JsonNode* least = part.find("min_replicas")) {
      redis.min_replicas = reader.integer(*least, 0, 2);
      if (redis.min_replicas > redis.replicas) reader.mistake(*least, "'min_replicas' is more than the redis has 'replicas': it would refuse every write");
    }
    if (const JsonNode* kept = part.find("persistence")) redis.persistence = reader.choice(*kept, {"none", "everysec", "always"});
    if (const JsonNode* evicted = part.find("eviction")) redis.eviction = reader.choice(*evicted, {"none", "volatile", "allkeys"});
    if (const JsonNode* clocks = part.find("clocks")) redis.clocks_differ = reader.choice(*clocks, {"agree", "differ"}) == "differ";
    if (const JsonNode* resend = part.find("resend")) redis.resends = reader.boolean(*resend);
    out.redis.emplace_back(part.key, std::move(redis));
  });
}

void read_clients(const JsonNode& document, NodeReader& reader, Scenario& out) {
  for_each_part(document, "clients", "a client", reader,
                [&](const JsonNode& part) { out.clients.emplace_back(part.key, read_client(part, reader)); });
}

void check_distinct_names(const JsonNode& document, NodeReader& reader) {
  static const std::vector<std::pair<std::string, std::string>> sections = {
      {"redis", "a redis"}, {"providers", "a provider"}, {"queues", "a queue"}, {"services", "a service"}, {"clients", "a client"}};
  std::map<std::string, std::string> owners;
  for (const auto& [section, what] : sections) {
    const JsonNode* parts = document.find(section);
    if (parts == nullptr || !parts->is(JsonNode::Kind::Object)) continue;
    for (const JsonNode& part : parts->children) {
      const auto [owner, is_new] = owners.emplace(part.key, what);
      if (is_new) continue;
      reader.key_mistake(part, fmt::format("{} is already the name of {}; {} needs another one", in_quotes(part.key),
                                           owner->second, what));
    }
  }
}

}  // namespace oncecheck
