/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRMIX_NS3_PLAN_H
#define FAIRMIX_NS3_PLAN_H

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

/* What lab/ns3.py writes of a scenario's run: one statement a line, words
 * `name=value` after its kind, staircases as `0:635000,40:1e6`.  Nothing is
 * optional and nothing has a default here: those are the scenario's. */

using Staircase = std::vector<std::pair<double, double>>;

/* One line. */
class Statement
{
  public:
    explicit Statement(const std::string& line);

    const std::string& Kind() const;
    const std::string& Text(const std::string& name) const;
    double Number(const std::string& name) const;
    Staircase Steps(const std::string& name) const;

  private:
    std::string m_kind;
    std::map<std::string, std::string> m_words;
};

/* All lines but empty ones. */
std::vector<Statement> ReadPlan(std::istream& in);

#endif /* FAIRMIX_NS3_PLAN_H */
