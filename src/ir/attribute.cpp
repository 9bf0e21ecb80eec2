// src/ir/attribute.cpp: lookup of attributes.
#include "ir/attribute.h"

#include "base/error.h"

namespace natif::ir {

const AttributeValue* find(const Attributes& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes)
    if (attribute.name == name) return &attribute.value;
  return nullptr;
}

template <class T>
const T& get(const Attributes& attributes, std::string_view name) {
  const AttributeValue* value = find(attributes, name);
  base::require(value && std::holds_alternative<T>(*value), "an attribute is missing or of another type");
  return std::get<T>(*value);
}

template const bool& get<bool>(const Attributes&, std::string_view);
template const int64_t& get<int64_t>(const Attributes&, std::string_view);
template const double& get<double>(const Attributes&, std::string_view);
template const DType& get<DType>(const Attributes&, std::string_view);
template const std::string& get<std::string>(const Attributes&, std::string_view);
template const std::vector<int64_t>& get<std::vector<int64_t>>(const Attributes&, std::string_view);

}  // namespace natif::ir
