#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core.h"
