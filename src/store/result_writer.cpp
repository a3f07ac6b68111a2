#include "windtunnel/store/result_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hdf5_handle.hpp"
#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/file.hpp"
#include "windtunnel/store/schema_page.hpp"

namespace windtunnel::store {
namespace {

constexpr std::size_t chunk_bytes = 1U << 18U;
constexpr std::size_t max_chunk_rows = 1U << 15U;
constexpr std::string_view tried = "writing the result";

/// Property list for objects: no times in the file, members listed in the order in which they were made.
Handle object_properties(hid_t kind, const std::string& path) {
    Handle list = checked(H5Pcreate(kind), H5Pclose, tried, path);
    checked(H5Pset_obj_track_times(list.id(), false), tried, path);
    if (kind == H5P_GROUP_CREATE || kind == H5P_FILE_CREATE)
        checked(H5Pset_link_creation_order(list.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), tried, path);
    return list;
}

Handle enum_type(const std::vector<std::string>& names, const std::string& path) {
    Handle type = checked(H5Tenum_create(H5T_STD_I16LE), H5Tclose, tried, path);
    for (std::size_t index = 0; index < names.size(); ++index) {
        const auto value = static_cast<std::int16_t>(index);
        checked(H5Tenum_insert(type.id(), names[index].c_str(), &value), tried, path);
    }
    return type;
}

Handle file_type(const ColumnSchema& column, std::size_t width, const std::string& path) {
    switch (column.type) {
        case ColumnType::real:
            return checked(H5Tcopy(H5T_IEEE_F64LE), H5Tclose, tried, path);
        case ColumnType::integer:
            return checked(H5Tcopy(H5T_STD_I64LE), H5Tclose, tried, path);
        case ColumnType::text:
            return text_type(width, path);
        case ColumnType::enumeration:
            break;
    }
    return enum_type(column.enum_names, path);
}

/// The rows as they lie in the file. Little-endian hosts only (base/pack.hpp checks).
struct RawRows {
    std::vector<char> bytes;
    const void* data = nullptr;
};

RawRows raw_rows(const ColumnSchema& column, const ColumnValues& values, std::size_t width, const std::string& place) {
    RawRows raw;
    if (column.type == ColumnType::real) {
        raw.data = std::get<std::vector<double>>(values).data();
    } else if (column.type == ColumnType::integer) {
        raw.data = std::get<std::vector<std::int64_t>>(values).data();
    } else if (column.type == ColumnType::text) {
        const auto& texts = std::get<std::vector<std::string>>(values);
        raw.bytes.assign(texts.size() * width, '\0');
        for (std::size_t row = 0; row < texts.size(); ++row) {
            if (texts[row].size() > width)
                throw base::RunError{fmt::format("{}: a text is longer than the announced {} bytes", place, width)};
            if (!texts[row].empty()) std::memcpy(raw.bytes.data() + row * width, texts[row].data(), texts[row].size());
        }
        raw.data = raw.bytes.data();
    } else {
        const auto& numbers = std::get<std::vector<std::int64_t>>(values);
        raw.bytes.resize(numbers.size() * sizeof(std::int16_t));
        for (std::size_t row = 0; row < numbers.size(); ++row) {
            if (numbers[row] < 0 || numbers[row] >= static_cast<std::int64_t>(column.enum_names.size()))
                throw base::RunError{fmt::format("{}: {} is no value of the enumeration", place, numbers[row])};
            const auto value = static_cast<std::int16_t>(numbers[row]);
            std::memcpy(raw.bytes.data() + row * sizeof value, &value, sizeof value);
        }
        raw.data = raw.bytes.data();
    }
    return raw;
}

}  // namespace

TextWidths no_widths(const TableSchema& schema) {
    return TextWidths(schema.columns.size(), 0);
}

void widen(TextWidths& widths, const Table& rows) {
    for (std::size_t column = 0; column < rows.columns.size(); ++column)
        if (const auto* texts = std::get_if<std::vector<std::string>>(&rows.columns[column]))
            for (const std::string& text : *texts) widths[column] = std::max(widths[column], text.size());
}

struct ResultWriter::Body {
    struct Column {
        Handle dataset;
        Handle type;
        std::size_t width = 1;
    };
    struct Open {
        TableSchema schema;
        std::string place;
        std::vector<Column> columns;
        std::uint64_t num_rows = 0;
    };

    std::string path;
    std::string aside;
    Handle file;
    std::vector<Open> tables;
    bool finished = false;

    Open create(const std::string& root, const TableSchema& schema, const TextWidths& widths, std::uint64_t rows_known);
    void append(Open& table, const Table& rows);
    void write_all(const std::string& root, const Table& table);
    void write_scalar(const std::string& name, const std::string& units, const std::string& long_name, hid_t type,
                      const void* value);
    void write_provenance(const Provenance& provenance);
    void check() const;
};

ResultWriter::Body::Open ResultWriter::Body::create(const std::string& root, const TableSchema& schema,
                                                    const TextWidths& widths, std::uint64_t rows_known) {
    if (const auto faults = schema_faults(schema); !faults.empty())
        throw base::RunError{fmt::format("{}: the table schema is wrong: {}", path, faults.front())};
    Open open{schema, root + "/" + schema.path, {}, 0};
    const Handle parents = checked(H5Pcreate(H5P_LINK_CREATE), H5Pclose, tried, path);
    checked(H5Pset_create_intermediate_group(parents.id(), 1), tried, path);
    const Handle properties = object_properties(H5P_GROUP_CREATE, path);
    const Handle group = checked(H5Gcreate2(file.id(), open.place.c_str(), parents.id(), properties.id(), H5P_DEFAULT),
                                 H5Gclose, tried, path);
    write_attribute(group.id(), "long_name", schema.long_name, path);
    for (std::size_t index = 0; index < schema.columns.size(); ++index) {
        const ColumnSchema& column = schema.columns[index];
        const std::size_t width = std::max<std::size_t>(widths[index], 1);
        Handle type = file_type(column, width, path);
        const std::size_t row_bytes = H5Tget_size(type.id());
        const hsize_t fitting = std::clamp<hsize_t>(chunk_bytes / row_bytes, 1, max_chunk_rows);
        const hsize_t chunk = rows_known == 0 ? fitting : std::min<hsize_t>(fitting, rows_known);
        const Handle shape = object_properties(H5P_DATASET_CREATE, path);
        checked(H5Pset_chunk(shape.id(), 1, &chunk), tried, path);
        if (rows_known == 0 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
            checked(H5Pset_shuffle(shape.id()), tried, path);
            checked(H5Pset_deflate(shape.id(), 1), tried, path);
        }
        const hsize_t none = 0;
        const hsize_t unlimited = H5S_UNLIMITED;
        const Handle space = checked(H5Screate_simple(1, &none, &unlimited), H5Sclose, tried, path);
        Handle dataset = checked(
            H5Dcreate2(group.id(), column.name.c_str(), type.id(), space.id(), H5P_DEFAULT, shape.id(), H5P_DEFAULT),
            H5Dclose, tried, path);
        write_attribute(dataset.id(), "units", column.units, path);
        write_attribute(dataset.id(), "long_name", column.long_name, path);
        open.columns.push_back({std::move(dataset), std::move(type), width});
    }
    return open;
}

void ResultWriter::Body::append(Open& table, const Table& rows) {
    if (rows.columns.size() != table.columns.size())
        throw base::RunError{
            fmt::format("{}: {} columns given, {} announced", table.place, rows.columns.size(), table.columns.size())};
    const hsize_t count = rows.num_rows();
    if (count == 0) return;
    const hsize_t begin = table.num_rows;
    const hsize_t end = begin + count;
    const Handle memory = checked(H5Screate_simple(1, &count, nullptr), H5Sclose, tried, path);
    for (std::size_t index = 0; index < table.columns.size(); ++index) {
        const Body::Column& column = table.columns[index];
        const std::string place = table.place + "/" + table.schema.columns[index].name;
        if (std::visit([](const auto& values) { return values.size(); }, rows.columns[index]) != count)
            throw base::RunError{fmt::format("{}: the columns of the table differ in length", place)};
        const RawRows raw = raw_rows(table.schema.columns[index], rows.columns[index], column.width, place);
        checked(H5Dset_extent(column.dataset.id(), &end), tried, path);
        const Handle space = checked(H5Dget_space(column.dataset.id()), H5Sclose, tried, path);
        checked(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr), tried, path);
        checked(H5Dwrite(column.dataset.id(), column.type.id(), memory.id(), space.id(), H5P_DEFAULT, raw.data), tried,
                path);
    }
    table.num_rows = end;
}

void ResultWriter::Body::write_all(const std::string& root, const Table& table) {
    TextWidths widths = no_widths(table.schema);
    widen(widths, table);
    tables.push_back(create(root, table.schema, widths, std::max<std::uint64_t>(table.num_rows(), 1)));
    append(tables.back(), table);
    for (Column& column : tables.back().columns)
        if (!column.dataset.reset()) throw_hdf5_error(tried, path);
}

void ResultWriter::Body::write_scalar(const std::string& name, const std::string& units, const std::string& long_name,
                                      hid_t type, const void* value) {
    const Handle shape = object_properties(H5P_DATASET_CREATE, path);
    const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, tried, path);
    const Handle dataset = checked(
        H5Dcreate2(file.id(), ("/provenance/" + name).c_str(), type, space.id(), H5P_DEFAULT, shape.id(), H5P_DEFAULT),
        H5Dclose, tried, path);
    write_attribute(dataset.id(), "units", units, path);
    write_attribute(dataset.id(), "long_name", long_name, path);
    checked(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value), tried, path);
}

void ResultWriter::Body::write_provenance(const Provenance& provenance) {
    for (const ProvenanceField& field : provenance_fields()) {
        if (field.text != nullptr) {
            std::string text = provenance.*(field.text);
            if (text.empty()) text.assign(1, '\0');
            const Handle type = text_type(text.size(), path);
            write_scalar(field.name, field.units, field.long_name, type.id(), text.data());
        } else if (field.integer != nullptr) {
            write_scalar(field.name, field.units, field.long_name, H5T_STD_I64LE, &(provenance.*(field.integer)));
        } else {
            write_scalar(field.name, field.units, field.long_name, H5T_IEEE_F64LE, &(provenance.*(field.real)));
        }
    }
    write_scalar("seed", "1", "Seed of all random streams", H5T_STD_U64LE, &provenance.seed);
    for (const Table& table : provenance_tables(provenance)) write_all("/provenance", table);
}

/// Opens the closed temporary file as a stranger would: every dataset is there and has its rows.
void ResultWriter::Body::check() const {
    const Handle again =
        checked(H5Fopen(aside.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "checking the result", aside);
    for (const Open& table : tables)
        for (const ColumnSchema& column : table.schema.columns) {
            const std::string place = table.place + "/" + column.name;
            const Handle dataset =
                checked(H5Dopen2(again.id(), place.c_str(), H5P_DEFAULT), H5Dclose, "checking the result", aside);
            const Handle space = checked(H5Dget_space(dataset.id()), H5Sclose, "checking the result", aside);
            if (H5Sget_simple_extent_npoints(space.id()) != static_cast<hssize_t>(table.num_rows))
                throw base::RunError{
                    fmt::format("checking the result {}: {} does not hold its {} rows", aside, place, table.num_rows)};
        }
}

ResultWriter::ResultWriter(std::string path) : body_{std::make_unique<Body>()} {
    silence_hdf5();
    body_->path = std::move(path);
    body_->aside = body_->path + ".tmp";
    remove_file(body_->aside);
    const Handle creation = object_properties(H5P_FILE_CREATE, body_->path);
    body_->file = checked(H5Fcreate(body_->aside.c_str(), H5F_ACC_TRUNC, creation.id(), H5P_DEFAULT), H5Fclose,
                          "creating the result", body_->path);
    const Handle properties = object_properties(H5P_GROUP_CREATE, body_->path);
    for (const char* group : {"/results", "/provenance"})
        if (!checked(H5Gcreate2(body_->file.id(), group, H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Gclose, tried,
                     body_->path)
                 .reset())
            throw_hdf5_error(tried, body_->path);
}

ResultWriter::~ResultWriter() {
    if (body_->finished) return;
    body_->tables.clear();
    body_->file.reset();
    ::unlink(body_->aside.c_str());
}

void ResultWriter::write(const Table& table) {
    body_->write_all("/results", table);
}

std::size_t ResultWriter::begin(const TableSchema& schema, const TextWidths& widths) {
    body_->tables.push_back(body_->create("/results", schema, widths, 0));
    return body_->tables.size() - 1;
}

void ResultWriter::append(std::size_t table, const Table& rows) {
    body_->append(body_->tables.at(table), rows);
}

void ResultWriter::finish(const Provenance& provenance, Completeness completeness) {
    Body& body = *body_;
    body.write_provenance(provenance);
    const int version[] = {result_format_breaking, result_format_added};
    const int complete = completeness == Completeness::whole ? 1 : 0;
    write_attribute(body.file.id(), "format", result_format, body.path);
    write_attribute(body.file.id(), "format_version", version, 2, body.path);
    write_attribute(body.file.id(), "complete", &complete, 1, body.path);
    for (Body::Open& table : body.tables)
        for (Body::Column& column : table.columns) {
            if (!column.dataset.reset() || !column.type.reset()) throw_hdf5_error(tried, body.path);
        }
    checked(H5Fflush(body.file.id(), H5F_SCOPE_GLOBAL), tried, body.path);
    if (!body.file.reset()) throw_hdf5_error(tried, body.path);
    {
        const File file = open_file(body.aside, O_RDWR, "opening the result");
        if (::fsync(file.descriptor()) != 0) throw_system_error("syncing the result", body.aside, errno);
    }
    body.check();
    if (std::rename(body.aside.c_str(), body.path.c_str()) != 0)
        throw_system_error("renaming the result to", body.path, errno);
    body.finished = true;
    sync_folder_of(body.path);
}

}  // namespace windtunnel::store
