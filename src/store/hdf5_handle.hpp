#pragma once
/// HDF5 with every return code checked: handles that close themselves and errors that say path and reason.
#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

namespace windtunnel::store {

/// Owns an HDF5 identifier; `close` is the H5?close of its kind.
class Handle {
public:
    Handle() noexcept = default;
    Handle(hid_t id, herr_t (*close)(hid_t)) noexcept : id_{id}, close_{close} {}
    Handle(Handle&& other) noexcept : id_{std::exchange(other.id_, H5I_INVALID_HID)}, close_{other.close_} {}
    Handle& operator=(Handle&& other) noexcept {
        if (this != &other) {
            reset();
            id_ = std::exchange(other.id_, H5I_INVALID_HID);
            close_ = other.close_;
        }
        return *this;
    }
    ~Handle() { reset(); }
    [[nodiscard]] hid_t id() const noexcept { return id_; }
    /// Closes now; false when HDF5 reports a failure.
    bool reset() noexcept {
        if (id_ < 0) return true;
        return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
    }

private:
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*close_)(hid_t) = nullptr;
};

/// HDF5 prints nothing by itself: its messages go into our errors.
void silence_hdf5() noexcept;

/// base::RunError with HDF5's innermost reason; a full disk and the like get the system's words and a hint.
[[noreturn]] void throw_hdf5_error(std::string_view tried, const std::string& path);

/// The handle of a call that made `id`; throws when the call failed.
[[nodiscard]] Handle checked(hid_t id, herr_t (*close)(hid_t), std::string_view tried, const std::string& path);
/// The result of a call that returns a negative number on failure.
template <class Result>
Result checked(Result result, std::string_view tried, const std::string& path) {
    if (result < 0) throw_hdf5_error(tried, path);
    return result;
}

/// Fixed-width UTF-8 text of `width` bytes, padded with NUL.
[[nodiscard]] Handle text_type(std::size_t width, const std::string& path);

/// Attributes on an open object: UTF-8 text of variable length, 32-bit integers.
void write_attribute(hid_t object, const char* name, std::string_view text, const std::string& path);
void write_attribute(hid_t object, const char* name, const int* values, std::size_t count, const std::string& path);
/// Empty when the attribute is absent; throws when it is something else than text.
[[nodiscard]] std::string read_text_attribute(hid_t object, const char* name, const std::string& path);
/// False when the attribute is absent, no integer, or has another number of elements.
[[nodiscard]] bool read_attribute(hid_t object, const char* name, int* values, std::size_t count);

}  // namespace windtunnel::store
