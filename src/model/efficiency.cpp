#include "windtunnel/model/efficiency.hpp"

namespace windtunnel::model {

bool Efficiency::choose_release(std::string_view wanted) {
    for (const ReleaseFactor& known : releases)
        if (known.release == wanted) {
            release = known.release;
            release_factor = known.factor;
            return true;
        }
    release.clear();
    release_factor = 1.0;
    return false;
}

}  // namespace windtunnel::model
