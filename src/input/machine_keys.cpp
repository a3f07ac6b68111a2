// clang-format off: one key per line
#include "key_tables.hpp"

namespace windtunnel::input {

std::vector<Key> machine_keys() {
    using enum KeyKind;
    return {
        {"title", text, "\"\"", "one line for people"},
        {"source", text, "\"\"", "where states, events, limits and times come from"},
        {"initial", text, "required", "state in which a run begins"},
        {"final", text, "required", "state in which it ends: every state must lead there"},
        {"state", tables, "required", "the states; each must be reached from the initial one"},
        {"state[].name", text, "required", "name of the state"},
        {"state[].time", law, "required", "time of the action in this state"},
        {"state[].limit",
         quantity,
         "none",
         "an action that takes longer ends there, as the event error",
         "180 s",
         {0, most_seconds, true}},
        {"transition", tables, "required", "rows of the table"},
        {"transition[].from", text, "required", "state"},
        {"transition[].event", text, "required", "ok, error, stop, or a name of your own; once for each state"},
        {"transition[].to", text, "required", "state"},
        {"transition[].probability",
         number,
         "0",
         "that the action ends with this event; those of a state that a run enters sum to 1",
         "",
         {0, 1}},
    };
}

}  // namespace windtunnel::input
