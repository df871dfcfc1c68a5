/* SPDX-License-Identifier: GPL-2.0-only */
#include "plan.h"

#include <sstream>
#include <stdexcept>

Statement::Statement(const std::string& line)
{
    std::istringstream words(line);
    std::string word;

    words >> m_kind;
    while (words >> word)
    {
        auto equals = word.find('=');
        if (equals == std::string::npos)
        {
            throw std::runtime_error("plan: no value in '" + word + "'");
        }
        m_words[word.substr(0, equals)] = word.substr(equals + 1);
    }
}

const std::string&
Statement::Kind() const
{
    return m_kind;
}

const std::string&
Statement::Text(const std::string& name) const
{
    auto word = m_words.find(name);
    if (word == m_words.end())
    {
        throw std::runtime_error("plan: " + m_kind + " lacks " + name);
    }
    return word->second;
}

double
Statement::Number(const std::string& name) const
{
    return std::stod(Text(name));
}

Staircase
Statement::Steps(const std::string& name) const
{
    std::istringstream steps(Text(name));
    std::string step;
    Staircase out;

    while (std::getline(steps, step, ','))
    {
        auto colon = step.find(':');
        out.emplace_back(std::stod(step.substr(0, colon)), std::stod(step.substr(colon + 1)));
    }
    return out;
}

std::vector<Statement>
ReadPlan(std::istream& in)
{
    std::vector<Statement> plan;
    std::string line;

    while (std::getline(in, line))
    {
        if (!line.empty() && line[0] != '#')
        {
            plan.emplace_back(line);
        }
    }
    return plan;
}
