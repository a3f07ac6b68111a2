#include "hdf5_handle.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/store/file.hpp"
#include "windtunnel/store/provenance.hpp"

namespace windtunnel::store {
namespace {

struct Reason {
    std::string innermost;
    int system_error = 0;
};

herr_t note_reason(unsigned number, const H5E_error2_t* entry, void* data) {
    auto& reason = *static_cast<Reason*>(data);
    const std::string text = entry->desc == nullptr ? "" : entry->desc;
    if (number == 0) reason.innermost = text;
    if (const auto at = text.find("errno = "); at != std::string::npos && reason.system_error == 0)
        reason.system_error = std::atoi(text.c_str() + at + 8);
    return 0;
}

}  // namespace

void silence_hdf5() noexcept {
    // Without the library's own clean-up at exit: a file whose last write failed (a full disk) would crash it there.
    // Every file that was written well has been closed and checked by then.
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void throw_hdf5_error(std::string_view tried, const std::string& path) {
    Reason reason;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_reason, &reason);
    if (reason.system_error != 0) throw_system_error(tried, path, reason.system_error);
    throw base::RunError{
        fmt::format("{} {}: HDF5 reports: {}", tried, path, reason.innermost.empty() ? "no reason" : reason.innermost)};
}

Handle checked(hid_t id, herr_t (*close)(hid_t), std::string_view tried, const std::string& path) {
    if (id < 0) throw_hdf5_error(tried, path);
    return {id, close};
}

Handle text_type(std::size_t width, const std::string& path) {
    Handle type = checked(H5Tcopy(H5T_C_S1), H5Tclose, "making a text type for", path);
    const bool variable = width == H5T_VARIABLE;
    checked(H5Tset_size(type.id(), variable ? H5T_VARIABLE : std::max<std::size_t>(width, 1)), "making a text type for",
            path);
    checked(H5Tset_cset(type.id(), H5T_CSET_UTF8), "making a text type for", path);
    if (!variable) checked(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), "making a text type for", path);
    return type;
}

void write_attribute(hid_t object, const char* name, std::string_view text, const std::string& path) {
    const Handle type = text_type(H5T_VARIABLE, path);
    const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, "writing an attribute of", path);
    const Handle attribute = checked(H5Acreate2(object, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                                     H5Aclose, "writing an attribute of", path);
    const std::string terminated{text};
    const char* pointer = terminated.c_str();
    checked(H5Awrite(attribute.id(), type.id(), &pointer), "writing an attribute of", path);
}

void write_attribute(hid_t object, const char* name, const int* values, std::size_t count, const std::string& path) {
    const hsize_t size = count;
    const Handle space = checked(count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr), H5Sclose,
                                 "writing an attribute of", path);
    const Handle attribute = checked(H5Acreate2(object, name, H5T_STD_I32LE, space.id(), H5P_DEFAULT, H5P_DEFAULT),
                                     H5Aclose, "writing an attribute of", path);
    checked(H5Awrite(attribute.id(), H5T_NATIVE_INT, values), "writing an attribute of", path);
}

std::string read_text_attribute(hid_t object, const char* name, const std::string& path) {
    if (checked(H5Aexists(object, name), "reading an attribute of", path) == 0) return {};
    const Handle attribute = checked(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, "reading an attribute of", path);
    const Handle type = checked(H5Aget_type(attribute.id()), H5Tclose, "reading an attribute of", path);
    const Handle space = checked(H5Aget_space(attribute.id()), H5Sclose, "reading an attribute of", path);
    if (H5Tget_class(type.id()) != H5T_STRING || H5Sget_simple_extent_npoints(space.id()) != 1)
        throw base::RunError{fmt::format("{}: the attribute {} is no text", path, name)};
    if (checked(H5Tis_variable_str(type.id()), "reading an attribute of", path) > 0) {
        char* pointer = nullptr;
        const Handle memory = text_type(H5T_VARIABLE, path);
        checked(H5Aread(attribute.id(), memory.id(), &pointer), "reading an attribute of", path);
        std::string text = pointer == nullptr ? "" : pointer;
        H5free_memory(pointer);
        return text;
    }
    std::string text(std::min<std::size_t>(H5Tget_size(type.id()), 1U << 16U), '\0');
    const Handle memory = text_type(text.size(), path);
    checked(H5Aread(attribute.id(), memory.id(), text.data()), "reading an attribute of", path);
    text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
    return text;
}

bool read_attribute(hid_t object, const char* name, int* values, std::size_t count) {
    if (H5Aexists(object, name) <= 0) return false;
    const Handle attribute{H5Aopen(object, name, H5P_DEFAULT), H5Aclose};
    const Handle type{H5Aget_type(attribute.id()), H5Tclose};
    const Handle space{H5Aget_space(attribute.id()), H5Sclose};
    return type.id() >= 0 && space.id() >= 0 && H5Tget_class(type.id()) == H5T_INTEGER &&
           H5Sget_simple_extent_npoints(space.id()) == static_cast<hssize_t>(count) &&
           H5Aread(attribute.id(), H5T_NATIVE_INT, values) >= 0;
}

std::string hdf5_version() {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

}  // namespace windtunnel::store
