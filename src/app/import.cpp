#include <fstream>

#include "windtunnel/app/commands.hpp"
#include "windtunnel/app/write_file.hpp"
#include "windtunnel/base/nearest.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/report/model_file.hpp"

namespace windtunnel::app {

Command import_command() {
    return {"import",
            "Turns a Hugging Face config.json (the file or its folder) into a model file.",
            "hf FILE",
            2,
            2,
            together({{{"output", "FILE.toml", "write here", "standard output", false, 'o'},
                       {"overwrite", "", "replace an existing file"},
                       {"help", "", "print this text", "", false, 'h'}}})};
}

ExitCode run_import(const Arguments& arguments, Context& context) {
    const std::vector<std::string> kinds{"hf"};
    const std::string& kind = arguments.positional()[0];
    if (kind != "hf") throw_usage_error(kind, "unknown kind of import", base::nearest_name(kind, kinds));
    const std::string& path = arguments.positional()[1];
    const std::string text = report::model_toml(input::read_model(path), path + " (Hugging Face configuration)");
    if (!arguments.has("output")) {
        context.out << text;
        return ExitCode::done;
    }
    const std::string output = arguments.text("output");
    if (!arguments.has("overwrite") && std::ifstream{output}.good())
        throw_usage_error("--output", output + " exists", "another name, or --overwrite");
    write_file(output, text);
    context.log.info(output + " written");
    return ExitCode::done;
}

}  // namespace windtunnel::app
