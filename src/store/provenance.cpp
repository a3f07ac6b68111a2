#include "windtunnel/store/provenance.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>

namespace windtunnel::store {

const std::vector<ProvenanceField>& provenance_fields() {
    using P = Provenance;
    static const std::vector<ProvenanceField> fields{
        {"identity", "1", "Canonical text of what was computed", &P::identity},
        {"plan", "1", "Resolved plan, every value", &P::plan},
        {"command", "1", "Command line", &P::command},
        {"ranks", "1", "Number of MPI ranks", nullptr, &P::ranks},
        {"threads", "1", "Threads per rank", nullptr, &P::threads},
        {"host", "1", "Host of rank 0", &P::host},
        {"versions", "1", "Program, git state, compiler, MPI, HDF5", &P::versions},
        {"start", "1", "Start, UTC", &P::start},
        {"end", "1", "End, UTC", &P::end},
        {"elapsed_s", "s", "Wall clock since the last start or resume", nullptr, nullptr, &P::elapsed_s},
        {"exit_state", "1", "done, or incomplete", &P::exit_state},
        {"blocks", "1", "Blocks of work in the result", nullptr, &P::blocks},
        {"blocks_resumed", "1", "Of them, read from a journal", nullptr, &P::blocks_resumed},
    };
    return fields;
}

std::vector<TableSchema> provenance_schemas() {
    const auto text = [](std::string name, std::string long_name) {
        return ColumnSchema{std::move(name), ColumnType::text, "1", std::move(long_name), {}};
    };
    return {
        {"inputs",
         "Files that the run read",
         {text("role", "What the file describes"), text("path", "Path as it was opened"),
          text("fnv1a", "FNV-1a hash of the text, 64 bit, hexadecimal"), text("text", "Whole text")}},
        {"implicit_defaults", "Values that nobody wrote", {text("value", "Key and value")}},
        {"assumptions", "Values without a source", {text("value", "Key and value")}},
    };
}

std::vector<Table> provenance_tables(const Provenance& provenance) {
    std::vector<Table> tables;
    for (TableSchema& schema : provenance_schemas()) tables.push_back(empty_table(std::move(schema)));
    const auto column = [&tables](std::size_t table, std::size_t index) -> std::vector<std::string>& {
        return std::get<std::vector<std::string>>(tables[table].columns[index]);
    };
    for (const ProvenanceFile& file : provenance.files) {
        column(0, 0).push_back(file.role);
        column(0, 1).push_back(file.path);
        column(0, 2).push_back(fmt::format("{:016x}", file.hash));
        column(0, 3).push_back(file.text);
    }
    column(1, 0) = provenance.implicit_defaults;
    column(2, 0) = provenance.assumptions;
    return tables;
}

void take_provenance_tables(const std::vector<Table>& tables, Provenance& provenance) {
    const auto column = [&tables](std::size_t table, std::size_t index) -> const std::vector<std::string>& {
        return std::get<std::vector<std::string>>(tables[table].columns[index]);
    };
    provenance.files.clear();
    for (std::size_t row = 0; row < tables[0].num_rows(); ++row)
        provenance.files.push_back(
            {column(0, 0)[row], column(0, 1)[row], column(0, 3)[row], text_hash(column(0, 3)[row])});
    provenance.implicit_defaults = column(1, 0);
    provenance.assumptions = column(2, 0);
}

std::uint64_t text_hash(std::string_view text) noexcept {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char byte : text) {
        hash ^= static_cast<unsigned char>(byte);
        hash *= 1099511628211ULL;
    }
    return hash;
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string host_name() {
    utsname name{};
    return ::uname(&name) == 0 ? std::string{name.nodename} : std::string{"unknown"};
}

std::string first_difference(std::string_view theirs, std::string_view ours, std::string_view where) {
    for (int line = 1; theirs != ours; ++line) {
        const auto next = [](std::string_view& text) {
            const std::string_view head = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), head.size() + 1));
            return head;
        };
        const bool theirs_over = theirs.empty();
        const bool ours_over = ours.empty();
        const std::string_view a = next(theirs);
        const std::string_view b = next(ours);
        if (a != b || theirs_over || ours_over)
            return fmt::format("line {}: {} in {}, {} here", line, theirs_over ? "nothing" : fmt::format("`{}`", a),
                               where, ours_over ? "nothing" : fmt::format("`{}`", b));
    }
    return {};
}

}  // namespace windtunnel::store
