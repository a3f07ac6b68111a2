#include <fmt/format.h>

#include "key_tables.hpp"
#include "windtunnel/model/engine.hpp"

namespace windtunnel::input {

std::vector<Key> engine_keys() {
    using enum KeyKind;
    std::vector<Key> keys{
        {"name", text, "\"default\"", "name of the set"},
        {"evidence",
         word,
         "\"assumed\"",
         "where the numbers come from",
         "",
         {},
         {"measured", "fitted", "assumed", "first_principles"}},
    };
    const model::EngineEfficiency standard;
    for (const model::EngineParameter& parameter : model::engine_parameters()) {
        const double value = parameter.get(standard);
        const double per_unit = parameter.unit == "us" ? 1e6 : 1e3;
        if (parameter.unit.empty())
            keys.push_back({parameter.name,
                            number,
                            fmt::format("{}", value),
                            parameter.meaning,
                            "",
                            {parameter.least, parameter.most}});
        else
            keys.push_back({parameter.name,
                            quantity,
                            fmt::format("\"{:g} {}\"", value * per_unit, parameter.unit),
                            parameter.meaning,
                            "1 " + parameter.unit,
                            {parameter.least, parameter.most}});
    }
    keys.push_back({"relative_error_90",
                    number,
                    "0",
                    "half-width of the 90 % interval of the time per token, relative; 0: unknown",
                    "",
                    {0, 10}});
    return keys;
}

}  // namespace windtunnel::input
