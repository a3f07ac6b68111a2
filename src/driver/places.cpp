#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "windtunnel/base/pack.hpp"
#include "windtunnel/driver/crew.hpp"
#include "windtunnel/parallel/affinity.hpp"

namespace windtunnel::driver {
namespace {

constexpr int place_tag = 80;

struct HostLoad {
    std::set<int> cores;
    int threads = 0;
    int ranks = 0;
};

std::map<std::string, HostLoad> load_by_host(const std::vector<RankPlace>& places) {
    std::map<std::string, HostLoad> hosts;
    for (const RankPlace& place : places) {
        HostLoad& host = hosts[place.host];
        host.cores.insert(place.cores.begin(), place.cores.end());
        host.threads += place.threads;
        ++host.ranks;
    }
    return hosts;
}

std::string list_of(const std::set<int>& cores) {
    return parallel::core_list({cores.begin(), cores.end()});
}

}  // namespace

std::vector<RankPlace> exchange_places(parallel::Communicator& communicator, const RankPlace& mine) {
    if (!communicator.is_root()) {
        base::Packer packer;
        packer.put(std::string_view{mine.host});
        packer.put(mine.cores);
        packer.put(mine.threads);
        packer.put(mine.identity_hash);
        communicator.send(0, place_tag, std::move(packer).take());
        return {};
    }
    std::vector<RankPlace> places(static_cast<std::size_t>(communicator.size()));
    places[0] = mine;
    for (int answers = 1; answers < communicator.size(); ++answers) {
        const parallel::Message message = communicator.receive();
        RankPlace& place = places.at(static_cast<std::size_t>(message.source));
        base::Unpacker unpacker{message.bytes};
        place.host = unpacker.get_text();
        place.cores = unpacker.get_vector<int>();
        place.threads = unpacker.get<int>();
        place.identity_hash = unpacker.get<std::uint64_t>();
    }
    return places;
}

std::string places_line(const std::vector<RankPlace>& places) {
    const auto [fewest, most] = std::minmax_element(places.begin(), places.end(),
                                                    [](const auto& a, const auto& b) { return a.threads < b.threads; });
    const std::string threads = fewest->threads == most->threads
                                    ? std::to_string(most->threads)
                                    : fmt::format("{} to {}", fewest->threads, most->threads);
    std::string line = fmt::format("{} rank{} x {} thread{}", places.size(), places.size() == 1 ? "" : "s", threads,
                                   most->threads == 1 ? "" : "s");
    const auto hosts = load_by_host(places);
    constexpr std::size_t most_hosts = 4;
    std::size_t shown = 0;
    for (const auto& [host, load] : hosts) {
        if (shown++ == most_hosts) {
            line += fmt::format("; {} more hosts", hosts.size() - most_hosts);
            break;
        }
        line +=
            fmt::format("; host {}: {} thread{} on {} core{} ({})", host, load.threads, load.threads == 1 ? "" : "s",
                        load.cores.size(), load.cores.size() == 1 ? "" : "s", list_of(load.cores));
    }
    return line;
}

std::vector<std::string> crowded_places(const std::vector<RankPlace>& places) {
    std::vector<std::string> warnings;
    for (const auto& [host, load] : load_by_host(places)) {
        const int cores = static_cast<int>(load.cores.size());
        if (load.threads > cores)
            warnings.push_back(
                fmt::format("host {}: {} rank(s) with {} threads in all on {} core(s) of the affinity mask ({}): more "
                            "threads than cores, slower than {} per rank; use --threads {} or start the ranks unbound",
                            host, load.ranks, load.threads, cores, list_of(load.cores), std::max(1, cores / load.ranks),
                            std::max(1, cores / load.ranks)));
    }
    if (!warnings.empty()) return warnings;
    for (std::size_t rank = 0; rank < places.size(); ++rank)
        if (places[rank].threads > static_cast<int>(places[rank].cores.size()))
            warnings.push_back(
                fmt::format("rank {} on host {}: {} threads on {} core(s) of its affinity mask ({}): more "
                            "threads than cores; start the ranks unbound (mpirun --bind-to none)",
                            rank, places[rank].host, places[rank].threads, places[rank].cores.size(),
                            parallel::core_list(places[rank].cores)));
    return warnings;
}

}  // namespace windtunnel::driver
