#include "windtunnel/app/manual.hpp"

#include <fmt/format.h>

#include "windtunnel/app/build_info.hpp"

namespace windtunnel::app {
namespace {

/// Text that roff prints as it is: no escapes, no requests at the start of a line, dashes that can be copied.
std::string roff(const std::string& text) {
    std::string safe;
    bool line_start = true;
    for (const char letter : text) {
        if (line_start && (letter == '.' || letter == '\'')) safe += "\\&";
        line_start = letter == '\n';
        if (letter == '\\')
            safe += "\\\\";
        else if (letter == '-')
            safe += "\\-";
        else
            safe += letter;
    }
    return safe;
}

std::string option_text(const Option& option) {
    std::string head = option.letter == 0 ? "" : fmt::format("\\fB\\-{}\\fR, ", option.letter);
    head += fmt::format("\\fB\\-\\-{}\\fR", roff(option.name));
    if (!option.value.empty()) head += fmt::format(" \\fI{}\\fR", roff(option.value));
    std::string meaning = option.meaning;
    if (!option.default_text.empty()) meaning += fmt::format(" (default: {})", option.default_text);
    if (option.repeatable) meaning += "; may be repeated";
    return fmt::format(".TP\n{}\n{}\n", head, roff(meaning));
}

/// One word in single quotes for bash.
std::string quoted(const std::string& text) {
    std::string word = "'";
    for (const char letter : text) word += letter == '\'' ? std::string{"'\\''"} : std::string(1, letter);
    return word + "'";
}

std::string words_of(const Command& command) {
    std::string words;
    for (const Option& option : command.options) words += fmt::format("{}--{}", words.empty() ? "" : " ", option.name);
    return words;
}

}  // namespace

std::string manual_page(const std::vector<Subcommand>& subcommands) {
    std::string text =
        ".TH WINDTUNNEL 1\n"
        ".SH NAME\nwindtunnel \\- rehearses a large AI cluster before it is built or booked\n"
        ".SH SYNOPSIS\n\\fBwindtunnel\\fR \\fICOMMAND\\fR [options] \\fIARGUMENTS\\fR\n"
        ".br\n\\fBmpirun\\fR \\-n \\fIRANKS\\fR \\fBwindtunnel\\fR \\fICOMMAND\\fR ...\n"
        ".SH DESCRIPTION\nPredicts training steps, searches parallel layouts, samples or solves availability, and "
        "rehearses "
        "a whole plan over weeks of wall clock. Data go to standard output, log and progress to standard error.\n";
    for (const Subcommand& subcommand : subcommands) {
        const Command& command = subcommand.command;
        text += fmt::format(".SH {}\n\\fBwindtunnel {}\\fR [options] \\fI{}\\fR\n.PP\n{}\n", roff(command.name),
                            roff(command.name), roff(command.arguments), roff(command.summary));
        for (const Option& option : command.options) text += option_text(option);
    }
    return text +
           ".SH EXIT STATUS\n"
           ".TP\n0\ndone\n.TP\n1\nfailed while running, or a limit of validate was passed\n"
           ".TP\n2\nwrong usage or input; nothing was written\n.TP\n3\nnothing feasible; the file holds the reasons\n"
           ".TP\n75\ninterrupted and resumable\n"
           ".SH ENVIRONMENT\n.TP\n\\fBWINDTUNNEL_INPUTS\\fR\nfolder of the shipped inputs\n"
           ".TP\n\\fBOMP_NUM_THREADS\\fR\nthreads of a rank, unless \\-\\-threads is given\n"
           ".TP\n\\fBNO_COLOR\\fR\nno colours on a terminal\n";
}

std::string bash_completion(const std::vector<Subcommand>& subcommands) {
    std::string names, cases;
    for (const Subcommand& subcommand : subcommands) {
        names += (names.empty() ? "" : " ") + subcommand.command.name;
        cases +=
            fmt::format("        {}) words={} ;;\n", subcommand.command.name, quoted(words_of(subcommand.command)));
    }
    return fmt::format(
        "# bash completion of windtunnel; source it, or put it into /usr/share/bash-completion/completions/windtunnel\n"
        "_windtunnel() {{\n"
        "    local current=${{COMP_WORDS[COMP_CWORD]}} words=\n"
        "    COMPREPLY=()\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W {} -- \"$current\"))\n"
        "        return\n"
        "    fi\n"
        "    case ${{COMP_WORDS[1]}} in\n{}"
        "    esac\n"
        "    if [[ $current == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
        "    else\n"
        "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
        "    fi\n"
        "}}\n"
        "complete -o filenames -F _windtunnel windtunnel\n",
        quoted(names + " --help --version"), cases);
}

}  // namespace windtunnel::app
