#include "core/base/error.h"

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/fault_point.h"
#include "core/base/result.h"

namespace athanor::base {
namespace {

TEST(UserError, ShowsEveryProblemWithPlaceAndRemedy) {
  Problems problems;
  EXPECT_NO_THROW(problems.throw_if_any());
  problems.add("first", "a.json:1:2", "fix it");
  problems.add("second", "", "");
  try {
    problems.throw_if_any();
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "first\n  where: a.json:1:2\n  do: fix it\nsecond");
    EXPECT_EQ(error.problems().size(), 2u);
  }
}

TEST(EnvironmentError, CarriesTheSystemsWords) {
  const EnvironmentError error("writing failed", "/x", "free some space", 28);
  EXPECT_EQ(error.exit_code(), ExitCode::kEnvironment);
  EXPECT_NE(std::string(error.what()).find("No space left on device (errno 28)"), std::string::npos);
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good(3);
  const Result<int> bad(Failure{Problem{"no", "", ""}});
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 3);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().what, "no");
}

TEST(Check, FailureSaysThatItIsABugAndAborts) {
  EXPECT_DEATH(ATHANOR_CHECK(1 == 2, "sums are off"), "bug: sums are off \\(1 == 2 is false");
}

TEST(FaultPoint, FiresAtTheNthPassOnly) {
  arm_fault_points("step_end:2=throw");
  EXPECT_NO_THROW(fault_point(FaultPoint::kStepEnd));
  EXPECT_NO_THROW(fault_point(FaultPoint::kStepBegin));
  EXPECT_THROW(fault_point(FaultPoint::kStepEnd), EnvironmentError);
  EXPECT_NO_THROW(fault_point(FaultPoint::kStepEnd));
  arm_fault_points("");
}

TEST(FaultPoint, UnknownSpecificationsAreRefused) {
  EXPECT_THROW(arm_fault_points("nowhere=kill"), UserError);
  EXPECT_THROW(arm_fault_points("step_end=explode"), UserError);
  EXPECT_THROW(arm_fault_points("step_end:x=kill"), UserError);
  EXPECT_THROW(arm_fault_points("step_end:0=kill"), UserError);
  arm_fault_points("");
}

TEST(Clock, FormatsForPeopleAndMachines) {
  EXPECT_EQ(utc_timestamp(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_duration(Seconds(65)), "1:05");
  EXPECT_EQ(format_duration(Seconds(3723)), "1:02:03");
  EXPECT_EQ(format_duration(Seconds(-1)), "0:00");
}

}  // namespace
}  // namespace athanor::base
