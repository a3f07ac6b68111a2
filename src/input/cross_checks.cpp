#include "windtunnel/input/cross_checks.hpp"

#include <nlohmann/json.hpp>

namespace windtunnel::input {
namespace {

using Json = nlohmann::json;

model::CrossCheckSystem system_of(const Json& json) {
    model::CrossCheckSystem system;
    system.teraflops = json.at("tflops").get<std::map<std::string, double>>();
    json.at("matrix_efficiency").get_to(system.matrix_efficiency);
    json.at("memory_gb_per_s").get_to(system.memory_gb_per_s);
    json.at("memory_efficiency").get_to(system.memory_efficiency);
    json.at("scale_up_gb_per_s").get_to(system.scale_up_gb_per_s);
    json.at("scale_up_efficiency").get_to(system.scale_up_efficiency);
    json.at("scale_up_cards").get_to(system.scale_up_cards);
    json.at("scale_out_gb_per_s").get_to(system.scale_out_gb_per_s);
    json.at("scale_out_efficiency").get_to(system.scale_out_efficiency);
    return system;
}

model::CrossCheck configuration_of(const Json& json) {
    model::CrossCheck check;
    json.at("name").get_to(check.name);
    json.at("system").get_to(check.system);
    json.at("dtype").get_to(check.dtype);
    json.at("recompute").get_to(check.recompute);
    for (const auto& [key, member] :
         {std::pair{"hidden", &model::CrossCheck::hidden}, std::pair{"feedforward", &model::CrossCheck::feedforward},
          std::pair{"sequence", &model::CrossCheck::sequence}, std::pair{"heads", &model::CrossCheck::heads},
          std::pair{"head_size", &model::CrossCheck::head_size}, std::pair{"blocks", &model::CrossCheck::blocks},
          std::pair{"cards", &model::CrossCheck::cards}, std::pair{"tp", &model::CrossCheck::tp},
          std::pair{"pp", &model::CrossCheck::pp}, std::pair{"vpp", &model::CrossCheck::vpp},
          std::pair{"mbs", &model::CrossCheck::mbs}, std::pair{"gbs", &model::CrossCheck::gbs}})
        json.at(key).get_to(check.*member);
    json.at("multiquery").get_to(check.multiquery);
    json.at("sequence_parallel").get_to(check.sequence_parallel);
    json.at("sharded").get_to(check.sharded);
    check.not_compared = json.value("not_compared", std::string{});
    check.parts = json.at("parts").get<std::map<std::string, double>>();
    return check;
}

}  // namespace

model::CrossChecks parse_cross_checks(const std::string& text, const std::string& path,
                                      std::vector<base::Finding>& findings) {
    model::CrossChecks checks;
    try {
        const Json json = Json::parse(text);
        for (const auto& [name, system] : json.at("systems").items()) checks.systems[name] = system_of(system);
        for (const Json& configuration : json.at("configurations")) {
            checks.configurations.push_back(configuration_of(configuration));
            if (!checks.systems.contains(checks.configurations.back().system))
                findings.push_back(
                    {path, 0, 0, "system", "is not one of the systems", checks.configurations.back().name});
        }
    } catch (const Json::exception& error) {
        findings.push_back({path, 0, 0, {}, error.what(), "systems and configurations, as shipped"});
        return {};
    }
    return checks;
}

}  // namespace windtunnel::input
