/// User cases of serving: what engines logged, and what a user would expect to be told.
#include <gtest/gtest.h>

#include "windtunnel/base/errors.hpp"
#include "windtunnel/input/read.hpp"
#include "windtunnel/serve/kv_size.hpp"
#include "windtunnel/serve/plan_system.hpp"

namespace windtunnel {
namespace {

const std::string inputs = std::string{WINDTUNNEL_SOURCE_DIR} + "/inputs";

model::Transformer model_of(const std::string& name) {
    return input::read_model(inputs + "/models/" + name + ".toml");
}

model::EngineLayout tensor_parallel(int degree) {
    model::EngineLayout layout;
    layout.tensor_parallel = degree;
    return layout;
}

/// The findings of a plan with these lines of the model's attention and experts and of the deployment.
std::string findings_of(const std::string& model, const std::string& deployment) {
    const input::FileProvider files = [&](const std::string& path) -> input::FileText {
        if (path == "plan.toml")
            return {"[plan]\nmodel = \"model.toml\"\naccelerator = \"" + inputs +
                        "/accelerators/h100-80gb-sxm.toml\"\nnodes = 4\n[serve.deployment]\n" + deployment +
                        "[serve.load]\nrequest_rate = 1\ninput.mean = 100\noutput.mean = 100\n",
                    {},
                    false};
        if (path == "model.toml")
            return {
                "source = \"test\"\nname = \"m\"\nnum_layers = 10\nhidden = 6656\nffn = 17920\n" + model, {}, false};
        return input::read_file(path);
    };
    try {
        (void)input::read_plan("plan.toml", {}, files);
    } catch (const base::InputError& error) {
        return error.what();
    }
    return {};
}

/// vllm-project/vllm#2652 and #414.
TEST(UserCase030, FiftyTwoHeadsOverEightOrThreeCards) {
    const std::string model = "vocabulary = 32000\nattention = { kind = \"mha\", num_heads = 52, head_dim = 128 }\n";
    for (const char* degree : {"8", "3"}) {
        const std::string text = findings_of(model, std::string{"tensor_parallel = "} + degree + "\n");
        EXPECT_NE(text.find("one of 1, 2, 4, 13, 26, 52; or pipeline_parallel"), std::string::npos) << text;
    }
    for (const char* degree : {"1", "2", "4", "13", "26"})
        EXPECT_EQ(findings_of(model, std::string{"tensor_parallel = "} + degree + "\n"), "");
}

/// vllm-project/vllm#440: a vocabulary that no card count divides is padded, not refused.
TEST(UserCase032, AnOddVocabularyIsPadded) {
    EXPECT_EQ(findings_of("vocabulary = 250682\nattention = { kind = \"mha\", num_heads = 64, head_dim = 112 }\n",
                          "tensor_parallel = 8\n"),
              "");
}

/// vllm-project/vllm#52435: both rules at once; two replicas mend the experts, not the heads.
TEST(UserCase034, ExpertsAndHeadsOverThreeRanks) {
    const std::string model =
        "vocabulary = 32000\nattention = { kind = \"mha\", num_heads = 64, head_dim = 112 }\n"
        "experts = { num_routed = 256, top_k = 8, ffn = 2048 }\n";
    const std::string ranks = "tensor_parallel = 3\nexpert_parallel = 3\n";
    const std::string first = findings_of(model, ranks), second = findings_of(model, ranks + "redundant_experts = 2\n");
    EXPECT_NE(first.find("256 experts over 3 ranks"), std::string::npos) << first;
    EXPECT_NE(first.find("64 attention heads over 3"), std::string::npos) << first;
    EXPECT_EQ(second.find("experts over 3 ranks"), std::string::npos) << second;
    EXPECT_NE(second.find("64 attention heads over 3"), std::string::npos) << second;
}

/// vllm-project/vllm#10511: weights 14.96 and 7.48 GiB; pool of one card 53.29 GiB = 436,551 tokens of 131,072 bytes.
TEST(UserCase047, KvPoolOfLlama3OnOneAndTwoCards) {
    const model::Transformer llama = model_of("llama3-8b");
    model::Accelerator card = input::read_accelerator(inputs + "/accelerators/h100-80gb-sxm.toml");
    card.memory = Bytes{79.22 * base::gib};
    const model::EngineNumbers numbers;
    EXPECT_NEAR(serve::weight_bytes(llama, tensor_parallel(1), numbers).value() / base::gib, 14.96, 0.005 * 14.96);
    EXPECT_NEAR(serve::weight_bytes(llama, tensor_parallel(2), numbers).value() / base::gib, 7.48, 0.005 * 7.48);
    EXPECT_EQ(serve::kv_elements_of_card(llama, 1) * 2.0, 131072.0);
    const serve::MemoryUse use{0.9, Bytes{1.26 * base::gib}, Bytes{1.79 * base::gib}};
    const auto tokens =
        static_cast<double>(serve::num_kv_blocks(llama, card, tensor_parallel(1), numbers, use, 16) * 16);
    EXPECT_NEAR(tokens, 436551.0, 0.02 * 436551.0);
}

/// OpenRLHF/OpenRLHF#336: 378 blocks of 16 tokens under a model of 8,192: refused, with what fits.
TEST(UserCase049, TooFewBlocksForTheLongestRequest) {
    const std::string model = "vocabulary = 32000\nattention = { kind = \"mha\", num_heads = 64, head_dim = 112 }\n";
    const std::string text = findings_of(model, "num_gpu_blocks = 378\n[serve.model]\nmax_model_len = 8192\n");
    EXPECT_NE(text.find("378 blocks hold 6048 tokens"), std::string::npos) << text;
    EXPECT_NE(text.find("max_model_len of at most 6048"), std::string::npos) << text;
}

/// vllm-project/vllm#21348: 48,128 bytes a token and card at TP4; 367,404 tokens need 16.47 GiB; 8.11 GiB hold 178,880.
TEST(UserCase051, TokensOfTwoEngines) {
    const double token = serve::kv_elements_of_card(model_of("qwen3-235b-a22b"), 4) * 2.0;
    EXPECT_EQ(token, 48128.0);
    EXPECT_NEAR(367404.0 * token / base::gib, 16.47, 0.005);
    EXPECT_NEAR(8.11 * base::gib / token, 178880.0, 0.02 * 178880.0);
}

/// vllm-project/vllm#823: what the model needs and what the engine takes are two numbers.
TEST(UserCase053, NeededAndTakenMemory) {
    const model::Transformer llama = model_of("llama2-13b");
    const model::EngineNumbers numbers;
    EXPECT_NEAR(serve::weight_bytes(llama, tensor_parallel(1), numbers).value() / base::gib, 24.2, 0.02 * 24.2);
    EXPECT_NEAR(serve::weight_bytes(llama, tensor_parallel(2), numbers).value() / base::gib, 12.1, 0.02 * 12.1);
    const model::Accelerator card = input::read_accelerator(inputs + "/accelerators/a100-40gb-sxm.toml");
    EXPECT_NEAR(card.memory.value() * 0.9, 38e9, 0.02 * 38e9);
}

}  // namespace
}  // namespace windtunnel
