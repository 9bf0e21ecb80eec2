// src/bind/claims.h: claims as Python dicts, and the check that a dict is what the source gives.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <tuple>

#include "front/module.h"

namespace natif::bind {

/// front::Specialization as Python gives it: (name, first_line, sizes by parameter).
using Specialized = std::optional<std::tuple<std::string, int, front::Sizes>>;
front::Specialization specialization_of(const Specialized&);

/// The facts of a claim, as claim_module's docstring describes them.
nanobind::dict facts_of(const front::ClaimedFunction&);

/// The function of the module that `claim` is about. ValueError where a fact of the claim is not what the source gives.
const front::ClaimedFunction& confirm(const front::Module&, const nanobind::dict& claim);

}  // namespace natif::bind
