// clang-format off: one key per line
#include "key_tables.hpp"

// Columns as in the other tables: path, kind, default, meaning, example, range, words.
namespace windtunnel::input {

std::vector<Key> chain_keys() {
    using enum KeyKind;
    return {
        {"title", text, "\"\"", "one line for people"},
        {"source", text, "\"\"", "where model and answers come from"},
        {"group", text, "\"chain\"", "name of the group of cases in the table of errors"},
        {"chain.time_unit", word, "\"h\"", "unit of time of rates and answers", "", {}, {"s", "min", "h", "days"}},
        {"chain.most_states",
         integer,
         "5000000",
         "more reachable states are an error; about 200 bytes a state",
         "",
         {1, 50'000'000}},
        {"chain.constants", names, "none", "name = number or expression of the constants before it"},
        {"chain.variable", tables, "none",
         "bounded integers that make the state, at most 200 together with the components"},
        {"chain.variable[].name", text, "required", "name in expressions"},
        {"chain.variable[].least", expression, "0", "smallest value, of constants"},
        {"chain.variable[].most", expression, "required", "largest value, of constants"},
        {"chain.variable[].initial", expression, "required", "value at time 0, of constants"},
        {"chain.transition", tables, "none", "what can happen"},
        {"chain.transition[].name", text, "\"\"", "name for rewards and findings"},
        {"chain.transition[].guard", expression, "1", "possible where this is not 0"},
        {"chain.transition[].rate", expression, "required", "rate per time unit, 0 or more"},
        {"chain.transition[].update", names, "none", "variable = expression of the old values"},
        {"chain.reward", tables, "none", "what is collected"},
        {"chain.reward[].name", text, "required", "name for measures"},
        {"chain.reward[].per_time", expression, "0", "collected per time unit in a state"},
        {"chain.reward[].per_event", names, "none",
         "transition = expression of the state before it: collected at once"},
        {"component", tables, "none",
         "classes of equal components with exponential lives: each is a variable, the number that works, with the "
         "transitions name_failure and name_repair"},
        {"component[].name", text, "required", "name of the class and of its variable"},
        {"component[].count", expression, "required", "members, of constants"},
        {"component[].failure_rate", expression, "required", "of one active member, per time unit"},
        {"component[].active", expression, "none",
         "members in use while enough work, the others are spares; default: all"},
        {"component[].dormancy", expression, "none",
         "failure rate of a spare over that of an active member: 0 cold (default), 1 hot, between: warm"},
        {"component[].fails_while", expression, "none", "members fail only where this is not 0; default: always"},
        {"component[].repair_rate", expression, "none", "of one crew, per time unit; default: no repair"},
        {"component[].crews", expression, "none", "crews of the class; default: one for each member"},
        {"crew", tables, "none", "crews that several classes share"},
        {"crew[].name", text, "required", "name for findings"},
        {"crew[].number", expression, "required", "crews"},
        {"crew[].serves", text_list, "required", "classes, the first before the second at any time (pre-emptive)"},
        {"common_cause", tables, "none", "one event that fails members of several classes, or several of one"},
        {"common_cause[].name", text, "required", "name for rewards and findings"},
        {"common_cause[].rate", expression, "required", "per time unit"},
        {"common_cause[].takes", names, "required", "class = members that fail, as far as they work"},
        {"measure", tables, "required", "what is asked"},
        {"measure[].name", text, "required", "name of the answer"},
        {"measure[].kind",
         word,
         "required",
         "steady_state: reward per time in the long run; transient: at a time; accumulated: from 0 to a time; "
         "time_averaged: the same over the time; variance: of the time average, started in the long run; mean_time: "
         "until the target; reward_until: reward until the target; probability: of the target, by a time where one is "
         "given; frequency: entries into the target per time in the long run; formula: of the measures before it",
         "",
         {},
         {"steady_state", "transient", "accumulated", "time_averaged", "variance", "mean_time", "reward_until",
          "probability", "frequency", "formula"}},
        {"measure[].time",
         quantity,
         "none",
         "time of transient, accumulated, time_averaged, variance and probability",
         "24 h",
         {0, most_seconds, true}},
        {"measure[].reward", expression, "none", "name of a reward, or an expression per time unit"},
        {"measure[].target", expression, "none",
         "states where this is not 0: of mean_time, reward_until, probability and frequency"},
        {"measure[].avoid", expression, "none", "probability: states that end the attempt"},
        {"measure[].formula", expression, "none", "of constants and of the measures before it"},
        {"variant", tables, "none", "the same chain with other constants; answers are named variant.measure"},
        {"variant[].name", text, "required", "name of the variant"},
        {"variant[].constants", names, "required", "constants that replace those of the chain"},
        {"expected", names, "none",
         "known answers: measure (or states) = number or { value, tolerance, absolute }; a table of them for each "
         "variant"},
        {"tolerance", number, "1e-9", "of known answers without one of their own, relative", "", {0, 1}},
    };
}

}  // namespace windtunnel::input
