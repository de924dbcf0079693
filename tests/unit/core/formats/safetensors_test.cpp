#include "core/formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/formats/safetensors_writer.h"
#include "tests/support/temporary_folder.h"

namespace athanor::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string fixture(const std::string& name) {
  return std::string(ATHANOR_SOURCE_DIR) + "/tests/fixtures/safetensors/" + name;
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

std::string with_length(const std::string& header, const std::string& data) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) file += static_cast<char>(header.size() >> shift);
  return file + header + data;
}

SafetensorsHeader parse(const std::string& file) { return parse_safetensors(as_bytes(file), "weights.safetensors"); }

// The message of the refusal, or "taken".
std::string verdict(const std::string& file) {
  try {
    parse(file);
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.problems().size(), 1u);
    EXPECT_THAT(error.problems()[0].where, HasSubstr("weights.safetensors"));
    EXPECT_THAT(error.problems()[0].where, HasSubstr("byte "));
    EXPECT_FALSE(error.problems()[0].remedy.empty());
    return error.problems()[0].what;
  }
  return "taken";
}

constexpr const char* kOne = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

TEST(Safetensors, ReadsWhatTheReferenceWrote) {
  const SafetensorsFile file(fixture("names.safetensors"));
  EXPECT_THAT(file.metadata(), ElementsAre(std::pair<const std::string, std::string>("format", "pt")));
  ASSERT_EQ(file.tensors().size(), 10u);

  const TensorInfo* norm = file.find("model.norm.weight");
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(norm->dtype, Dtype::kFloat32);
  EXPECT_THAT(norm->shape, ElementsAre(5));
  float values[5];
  std::memcpy(values, file.bytes(*norm).data(), sizeof values);
  EXPECT_THAT(values, ElementsAre(-3.0f, -2.0f, -1.0f, 0.0f, 1.0f));

  const TensorInfo* scalar = file.find("a scalar");
  ASSERT_NE(scalar, nullptr);
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(scalar->num_elements(), 1);

  const TensorInfo* empty = file.find("empty");
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(empty->num_elements(), 0);
  EXPECT_TRUE(file.bytes(*empty).empty());

  EXPECT_NE(file.find("quote\" backslash\\ tab\t bell\x07"), nullptr);
  ASSERT_NE(file.find("\u6625\u7720"), nullptr);
  EXPECT_EQ(file.find("\u6625\u7720")->dtype, Dtype::kUint8);
  EXPECT_EQ(file.find("no such tensor"), nullptr);
}

TEST(Safetensors, WritesTheBytesTheReferenceWrites) {
  const testing::TemporaryFolder folder;
  for (const std::string name : {"names.safetensors", "no_metadata.safetensors"}) {
    const SafetensorsFile reference(fixture(name));
    std::vector<TensorPlan> plans;
    for (const TensorInfo& tensor : reference.tensors()) plans.push_back({tensor.name, tensor.dtype, tensor.shape});
    std::reverse(plans.begin(), plans.end());

    SafetensorsWriter writer(folder.file(name), plans, reference.metadata());
    for (const TensorInfo& tensor : writer.tensors()) {
      const auto bytes = reference.bytes(*reference.find(tensor.name));
      // In two pieces, as a caller that gathers a tensor does.
      writer.write(bytes.first(bytes.size() / 2));
      writer.write(bytes.subspan(bytes.size() / 2));
    }
    const WrittenFile written = writer.finish();
    const std::string expected = base::read_file(fixture(name));
    EXPECT_EQ(base::read_file(folder.file(name)), expected);
    EXPECT_EQ(written.num_bytes, expected.size());
    EXPECT_EQ(written.crc32c, base::crc32c(0, expected.data(), expected.size()));
  }
}

TEST(Safetensors, PlansTheSizeBeforeAnyTensorExists) {
  const SafetensorsLayout layout = plan_safetensors({{"w", Dtype::kBfloat16, {3, 5}}, {"v", Dtype::kFloat32, {2}}});
  EXPECT_EQ(layout.num_data_bytes, 38u);
  EXPECT_EQ(layout.header.size() % 8, 0u);
  EXPECT_EQ(layout.num_file_bytes(), layout.header.size() + 38);
  EXPECT_EQ(layout.tensors[0].name, "v");
}

TEST(Safetensors, ATruncatedFileIsRefusedAtEveryLength) {
  const std::string whole = base::read_file(fixture("names.safetensors"));
  ASSERT_EQ(verdict(whole), "taken");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(verdict(whole.substr(0, length)), "taken") << "cut to " << length << " bytes";
  }
  EXPECT_THAT(verdict(whole + '\0'), HasSubstr("1 bytes behind the last tensor"));
}

TEST(Safetensors, AnyFlippedHeaderBitGivesARefusalOrAConsistentFile) {
  const std::string whole = base::read_file(fixture("names.safetensors"));
  const std::size_t header_end = parse(whole).data_offset;
  int refused = 0;
  for (std::size_t offset = 0; offset < header_end; ++offset) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = whole;
      broken[offset] = static_cast<char>(broken[offset] ^ (1 << bit));
      try {
        const SafetensorsHeader header = parse(broken);
        std::uint64_t end = 0;
        for (const TensorInfo& tensor : header.tensors) {
          EXPECT_EQ(tensor.begin, end);
          EXPECT_EQ(tensor.num_bytes() * 8,
                    static_cast<std::uint64_t>(tensor.num_elements() * dtype_bits(tensor.dtype)));
          end = tensor.end;
        }
        EXPECT_EQ(header.data_offset + end, whole.size());
      } catch (const base::UserError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Safetensors, ANumberThatIsNotAFileLengthIsRefused) {
  EXPECT_THAT(verdict(""), HasSubstr("0 bytes"));
  EXPECT_THAT(verdict(std::string(7, '\0')), HasSubstr("7 bytes"));
  EXPECT_THAT(verdict(std::string(8, '\xff')), HasSubstr("100000000 is the most"));
  EXPECT_THAT(verdict(std::string("\x03\0\0\0\0\0\0\0{}", 10)), HasSubstr("torn"));
  EXPECT_THAT(verdict(with_length("", "")), HasSubstr("does not start with {"));
  EXPECT_EQ(verdict(with_length("{}", "")), "taken");
  EXPECT_EQ(verdict(with_length("{}  \n", "")), "taken");
}

TEST(Safetensors, OtherFilesAreNotTakenForSafetensors) {
  // A zip archive, which pytorch_model.bin is, and a page of HTML.
  EXPECT_THAT(verdict(std::string("PK\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0", 16)), HasSubstr("no safetensors file"));
  EXPECT_THAT(verdict("<!DOCTYPE html><html></html>"), HasSubstr("no safetensors file"));
  EXPECT_THAT(verdict(with_length(" {}", "")), HasSubstr("does not start with {"));
  EXPECT_THAT(verdict(with_length("[]", "")), HasSubstr("does not start with {"));
}

struct BadHeader {
  const char* header;
  const char* data;
  const char* message;
};

class BadHeaderTest : public ::testing::TestWithParam<BadHeader> {};

TEST_P(BadHeaderTest, IsRefusedWithTheTensorsName) {
  EXPECT_THAT(verdict(with_length(GetParam().header, GetParam().data)), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Safetensors, BadHeaderTest,
    ::testing::Values(
        BadHeader{kOne, "123", "torn"}, BadHeader{kOne, "12345", "1 bytes behind the last tensor"},
        BadHeader{
            R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
            "1234", "\"a\" twice"},
        BadHeader{R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234", "dtype twice"},
        BadHeader{R"({"__metadata__":{"a":"b"},"__metadata__":{"a":"c"}})", "", "\"__metadata__\" twice"},
        BadHeader{R"({"__metadata__":{"a":1}})", "", "holds a that is no text"},
        BadHeader{R"({"__metadata__":[]})", "", "is not an object"},
        BadHeader{R"({"a":["F32",[1],[0,4]]})", "1234", "\"a\" is not described by an object"},
        BadHeader{R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "1234", "\"a\" has no shape"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1]}})", "1234", "\"a\" has no data_offsets"},
        BadHeader{R"({"a":{"shape":[1],"data_offsets":[0,4]}})", "1234", "\"a\" has no dtype"},
        BadHeader{R"({"a":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}})", "1234", "unknown dtype f32"},
        BadHeader{R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", "1234", "dtype that is no text"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234",
                  "shape that is no list of whole"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", "1234",
                  "shape that is no list of whole"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}})", "1234",
                  "shape that is no list of whole"},
        BadHeader{R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", "1234", "shape that is no list"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}})", "1234", "[begin, end]"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "1234", "ends before it begins"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234",
                  "4 bytes by its offsets and 8 by its shape [2]"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", "1234",
                  "impossible shape"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[9223372036854775807,9223372036854775807,0],"data_offsets":[0,0]}})",
                  "", "impossible shape"},
        BadHeader{R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", "12", "does not end at a whole byte"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "12345678", "\"a\" starts at byte 4"},
        BadHeader{
            R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}})",
            "12345", "\"b\" starts at byte 2 of the data and the tensor before it ends at byte 3"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}x)", "1234", "not JSON"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4])", "1234", "not JSON"},
        BadHeader{"{\"\xff\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "1234", "not JSON"}));

TEST(Safetensors, WhatTheFormatAllowsIsTaken) {
  EXPECT_EQ(verdict(with_length(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})", "1234")),
            "taken");
  EXPECT_EQ(verdict(with_length(R"({"__metadata__":null})", "")), "taken");
  EXPECT_EQ(verdict(with_length(R"({"":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}})", "12")), "taken");
  // Empty tensors may lie anywhere between the others, in any order of names.
  EXPECT_EQ(verdict(with_length(R"({"c":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
                                R"("b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},)"
                                R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                "123")),
            "taken");
}

TEST(Safetensors, AFolderOrAMissingFileIsNamed) {
  const testing::TemporaryFolder folder;
  EXPECT_THROW(SafetensorsFile(folder.path()), base::UserError);
  EXPECT_THROW(SafetensorsFile(folder.file("missing.safetensors")), base::UserError);
  EXPECT_THROW(SafetensorsFile(folder.write("empty.safetensors", "")), base::UserError);
}

TEST(SafetensorsDeathTest, BytesThatWereNotPlannedAreABug) {
  const testing::TemporaryFolder folder;
  SafetensorsWriter writer(folder.file("short"), {{"w", Dtype::kFloat32, {2}}});
  EXPECT_DEATH(writer.finish(), "8 were planned|were planned");
  EXPECT_DEATH(plan_safetensors({{"w", Dtype::kFloat32, {2}}, {"w", Dtype::kFloat32, {3}}}), "written twice");
}

TEST(Dtype, NamesAreFoundAgain) {
  for (int i = 0; i <= static_cast<int>(Dtype::kUint64); ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    EXPECT_EQ(find_dtype(dtype_name(dtype)), dtype);
    if (is_weight_dtype(dtype)) {
      EXPECT_EQ(find_torch_dtype(torch_dtype_name(dtype)), dtype);
    }
  }
  EXPECT_EQ(find_dtype("bf16"), std::nullopt);
  EXPECT_EQ(find_torch_dtype("float64"), std::nullopt);
}

}  // namespace
}  // namespace athanor::formats
