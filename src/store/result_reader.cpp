#include "windtunnel/store/result_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hdf5_handle.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/file.hpp"

namespace windtunnel::store {
namespace {

constexpr std::string_view tried = "reading the result";
/// Deflate cannot make data more than about a thousand times smaller: a larger claim is damage.
constexpr std::uint64_t max_compression = 1100;

herr_t note_name(hid_t, const char* name, const H5L_info_t*, void* data) {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
}

std::vector<std::string> names_in(hid_t group, const std::string& path) {
    std::vector<std::string> names;
    hsize_t at = 0;
    if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at, note_name, &names) < 0) {
        names.clear();
        at = 0;
        checked(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, note_name, &names), tried, path);
    }
    return names;
}

/// What hangs at `name` in `group`: H5I_GROUP, H5I_DATASET or something else.
H5I_type_t kind_of(hid_t group, const std::string& name) {
    const Handle object{H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose};
    return object.id() < 0 ? H5I_BADID : H5Iget_type(object.id());
}

void find_tables(hid_t root, const std::string& below, const std::string& path, int depth,
                 std::vector<std::string>& tables) {
    if (depth > 16) throw base::RunError{fmt::format("{} {}: the groups are nested too deeply", tried, path)};
    const Handle group =
        checked(H5Gopen2(root, below.empty() ? "." : below.c_str(), H5P_DEFAULT), H5Gclose, tried, path);
    bool has_columns = false;
    for (const std::string& name : names_in(group.id(), path)) {
        const H5I_type_t kind = kind_of(group.id(), name);
        if (kind == H5I_DATASET) has_columns = true;
        if (kind == H5I_GROUP) find_tables(root, below.empty() ? name : below + "/" + name, path, depth + 1, tables);
    }
    if (has_columns) tables.push_back(below);
}

struct Span {
    std::uint64_t begin = 0;
    std::uint64_t count = 0;
};

std::uint64_t rows_of(hid_t dataset, const std::string& place, const std::string& path) {
    const Handle space = checked(H5Dget_space(dataset), H5Sclose, tried, path);
    const Handle type = checked(H5Dget_type(dataset), H5Tclose, tried, path);
    if (H5Sget_simple_extent_ndims(space.id()) != 1)
        throw base::RunError{fmt::format("{} {}: {} has not one dimension", tried, path, place)};
    hsize_t rows = 0;
    checked(H5Sget_simple_extent_dims(space.id(), &rows, nullptr), tried, path);
    const std::uint64_t stored = H5Dget_storage_size(dataset);
    if (rows > 0 && rows > (stored * max_compression) / std::max<std::size_t>(H5Tget_size(type.id()), 1))
        throw base::RunError{
            fmt::format("{} {}: {} is damaged: it claims {} rows in {} bytes", tried, path, place, rows, stored)};
    return rows;
}

void read_rows(hid_t dataset, hid_t memory_type, Span span, void* into, const std::string& path) {
    if (span.count == 0) return;
    const hsize_t begin = span.begin;
    const hsize_t count = span.count;
    const Handle space = checked(H5Dget_space(dataset), H5Sclose, tried, path);
    const Handle memory = checked(H5Screate_simple(1, &count, nullptr), H5Sclose, tried, path);
    checked(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr), tried, path);
    checked(H5Dread(dataset, memory_type, memory.id(), space.id(), H5P_DEFAULT, into), tried, path);
}

std::vector<std::string> read_texts(hid_t dataset, hid_t type, Span span, const std::string& place,
                                    const std::string& path) {
    if (checked(H5Tis_variable_str(type), tried, path) > 0)
        throw base::RunError{fmt::format("{} {}: {} has texts of variable length", tried, path, place)};
    const std::size_t width = H5Tget_size(type);
    std::string raw(width * span.count, '\0');
    read_rows(dataset, type, span, raw.data(), path);
    std::vector<std::string> texts;
    texts.reserve(span.count);
    for (std::uint64_t row = 0; row < span.count; ++row) {
        const std::string_view field = std::string_view{raw}.substr(row * width, width);
        texts.emplace_back(field.substr(0, field.find('\0')));
    }
    return texts;
}

std::vector<std::string> enum_names(hid_t type, const std::string& place, const std::string& path) {
    const int count = checked(H5Tget_nmembers(type), tried, path);
    std::vector<std::string> names(static_cast<std::size_t>(count));
    for (int member = 0; member < count; ++member) {
        std::int64_t value = 0;
        checked(H5Tget_member_value(type, static_cast<unsigned>(member), &value), tried, path);
        const Handle base_type = checked(H5Tget_super(type), H5Tclose, tried, path);
        checked(H5Tconvert(base_type.id(), H5T_NATIVE_INT64, 1, &value, nullptr, H5P_DEFAULT), tried, path);
        if (value < 0 || value >= count)
            throw base::RunError{
                fmt::format("{} {}: {} has an enumeration that does not count from 0", tried, path, place)};
        char* name = H5Tget_member_name(type, static_cast<unsigned>(member));
        if (name == nullptr) throw_hdf5_error(tried, path);
        names[static_cast<std::size_t>(value)] = name;
        H5free_memory(name);
    }
    return names;
}

std::vector<std::int64_t> read_enum(hid_t dataset, hid_t type, Span span, const std::string& path) {
    const std::size_t size = H5Tget_size(type);
    const Handle base_type = checked(H5Tget_super(type), H5Tclose, tried, path);
    std::vector<std::int64_t> values(span.count);
    if (size > sizeof(std::int64_t))
        throw base::RunError{fmt::format("{} {}: an enumeration is wider than 64 bit", tried, path)};
    read_rows(dataset, type, span, values.data(), path);
    checked(H5Tconvert(base_type.id(), H5T_NATIVE_INT64, values.size(), values.data(), nullptr, H5P_DEFAULT), tried,
            path);
    return values;
}

}  // namespace

struct ResultReader::Body {
    std::string path;
    Handle file;
    Handle results;

    Table read(hid_t root, const std::string& table_path, std::uint64_t begin, std::uint64_t end) const;
};

ResultReader::ResultReader(std::string path) : body_{std::make_unique<Body>()} {
    silence_hdf5();
    body_->path = std::move(path);
    const auto refuse = [this](std::string message) {
        throw base::InputError{{{body_->path, 0, 0, "", std::move(message), "a result file of this program"}}};
    };
    if (path_kind(body_->path) == PathKind::absent) refuse("there is no such file");
    if (path_kind(body_->path) != PathKind::file) refuse("that is no file");
    if (H5Fis_hdf5(body_->path.c_str()) <= 0) refuse("that is no HDF5 file, or its beginning is damaged");
    body_->file = checked(H5Fopen(body_->path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, tried, body_->path);
    if (read_text_attribute(body_->file.id(), "format", body_->path) != result_format)
        refuse("that HDF5 file was not written by this program");
    int version[2] = {0, 0};
    if (!read_attribute(body_->file.id(), "format_version", version, 2)) refuse("the file has no format_version");
    if (version[0] != result_format_breaking)
        refuse(fmt::format("the file has format {}.{}; this program reads {}.x", version[0], version[1],
                           result_format_breaking));
    body_->results = checked(H5Gopen2(body_->file.id(), "/results", H5P_DEFAULT), H5Gclose, tried, body_->path);
}

ResultReader::~ResultReader() = default;

Completeness ResultReader::completeness() const {
    int complete = 0;
    if (!read_attribute(body_->file.id(), "complete", &complete, 1))
        throw base::RunError{fmt::format("{} {}: the attribute complete is missing", tried, body_->path)};
    return complete == 1 ? Completeness::whole : Completeness::partial;
}

std::vector<std::string> ResultReader::table_paths() const {
    std::vector<std::string> tables;
    find_tables(body_->results.id(), "", body_->path, 0, tables);
    std::sort(tables.begin(), tables.end());
    return tables;
}

Table ResultReader::Body::read(hid_t root, const std::string& table_path, std::uint64_t begin,
                               std::uint64_t end) const {
    const Handle group = checked(H5Gopen2(root, table_path.c_str(), H5P_DEFAULT), H5Gclose, tried, path);
    Table table;
    table.schema.path = table_path;
    table.schema.long_name = read_text_attribute(group.id(), "long_name", path);
    std::uint64_t rows_before = 0;
    for (const std::string& name : names_in(group.id(), path)) {
        if (kind_of(group.id(), name) != H5I_DATASET) continue;
        const std::string place = table_path + "/" + name;
        const Handle dataset = checked(H5Dopen2(group.id(), name.c_str(), H5P_DEFAULT), H5Dclose, tried, path);
        const Handle type = checked(H5Dget_type(dataset.id()), H5Tclose, tried, path);
        const std::uint64_t rows = rows_of(dataset.id(), place, path);
        if (!table.columns.empty() && rows != rows_before)
            throw base::RunError{fmt::format("{} {}: the columns of {} differ in length", tried, path, table_path)};
        rows_before = rows;
        const Span span{std::min(begin, rows), std::min(end, rows) - std::min({begin, end, rows})};
        ColumnSchema column{name,
                            ColumnType::real,
                            read_text_attribute(dataset.id(), "units", path),
                            read_text_attribute(dataset.id(), "long_name", path),
                            {}};
        switch (H5Tget_class(type.id())) {
            case H5T_FLOAT: {
                std::vector<double> values(span.count);
                read_rows(dataset.id(), H5T_NATIVE_DOUBLE, span, values.data(), path);
                table.columns.emplace_back(std::move(values));
                break;
            }
            case H5T_INTEGER: {
                column.type = ColumnType::integer;
                std::vector<std::int64_t> values(span.count);
                read_rows(dataset.id(), H5T_NATIVE_INT64, span, values.data(), path);
                table.columns.emplace_back(std::move(values));
                break;
            }
            case H5T_STRING:
                column.type = ColumnType::text;
                table.columns.emplace_back(read_texts(dataset.id(), type.id(), span, place, path));
                break;
            case H5T_ENUM:
                column.type = ColumnType::enumeration;
                column.enum_names = enum_names(type.id(), place, path);
                table.columns.emplace_back(read_enum(dataset.id(), type.id(), span, path));
                break;
            default:
                throw base::RunError{fmt::format("{} {}: {} has a type that no table uses", tried, path, place)};
        }
        table.schema.columns.push_back(std::move(column));
    }
    return table;
}

std::uint64_t ResultReader::num_rows(const std::string& table_path) const {
    const Handle group =
        checked(H5Gopen2(body_->results.id(), table_path.c_str(), H5P_DEFAULT), H5Gclose, tried, body_->path);
    for (const std::string& name : names_in(group.id(), body_->path)) {
        if (kind_of(group.id(), name) != H5I_DATASET) continue;
        const Handle dataset = checked(H5Dopen2(group.id(), name.c_str(), H5P_DEFAULT), H5Dclose, tried, body_->path);
        return rows_of(dataset.id(), table_path + "/" + name, body_->path);
    }
    return 0;
}

Table ResultReader::read(const std::string& table_path, std::uint64_t begin, std::uint64_t end) const {
    return body_->read(body_->results.id(), table_path, begin, end);
}

Provenance ResultReader::provenance() const {
    const std::string& path = body_->path;
    const Handle group = checked(H5Gopen2(body_->file.id(), "/provenance", H5P_DEFAULT), H5Gclose, tried, path);
    Provenance provenance;
    const auto scalar = [&](const std::string& name) {
        return checked(H5Dopen2(group.id(), name.c_str(), H5P_DEFAULT), H5Dclose, tried, path);
    };
    for (const ProvenanceField& field : provenance_fields()) {
        const Handle dataset = scalar(field.name);
        const Handle space = checked(H5Dget_space(dataset.id()), H5Sclose, tried, path);
        const Handle type = checked(H5Dget_type(dataset.id()), H5Tclose, tried, path);
        const H5T_class_t kind = H5Tget_class(type.id());
        const H5T_class_t wanted =
            field.text != nullptr ? H5T_STRING : (field.integer != nullptr ? H5T_INTEGER : H5T_FLOAT);
        const std::size_t size = H5Tget_size(type.id());
        if (kind != wanted || H5Sget_simple_extent_npoints(space.id()) != 1 || size > H5Dget_storage_size(dataset.id()))
            throw base::RunError{fmt::format("{} {}: /provenance/{} is damaged", tried, path, field.name)};
        if (field.text != nullptr) {
            std::string text(size, '\0');
            checked(H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), tried, path);
            text.resize(std::min(text.find('\0'), text.size()));
            provenance.*(field.text) = std::move(text);
        } else if (field.integer != nullptr) {
            checked(
                H5Dread(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &(provenance.*(field.integer))),
                tried, path);
        } else {
            checked(
                H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &(provenance.*(field.real))),
                tried, path);
        }
    }
    checked(H5Dread(scalar("seed").id(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &provenance.seed), tried,
            path);
    std::vector<Table> tables;
    for (const TableSchema& schema : provenance_schemas()) {
        tables.push_back(body_->read(group.id(), schema.path, 0, ~std::uint64_t{0}));
        const Table& table = tables.back();
        bool fits = table.columns.size() == schema.columns.size();
        for (std::size_t column = 0; fits && column < schema.columns.size(); ++column)
            fits = table.schema.columns[column].name == schema.columns[column].name &&
                   table.schema.columns[column].type == schema.columns[column].type;
        if (!fits)
            throw base::RunError{fmt::format("{} {}: /provenance/{} has other columns", tried, path, schema.path)};
    }
    take_provenance_tables(tables, provenance);
    return provenance;
}

}  // namespace windtunnel::store
