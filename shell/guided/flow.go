// SPDX-License-Identifier: Apache-2.0

// Package guided asks step by step what a command needs. Every face asks the same
// questions of a [Flow], which knows the command that does the same unattended.
package guided

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/internal/base/files"
)

// Question is one step of a [Flow].
type Question struct {
	// Name is what the answer is for: "file". Text asks, and Explain says more, a line each.
	Name    string
	Text    string
	Explain []string
	Choices []Choice // what it may be; none for a free text
	Default string   // the answer where there is none, "" for none
	// Files lists a folder where the answer is a file, nil for other answers.
	Files func(ctx context.Context, folder string) (*files.Listing, error)
	// Figures says what a choice would give, which may take long; nil where nothing does.
	Figures func(ctx context.Context, choice string) (string, error)
	check   func(answer string) error
}

// Choice is an answer with what it means.
type Choice struct{ Value, Text string }

// Check returns why an answer will not do, nil if it will. The answer may be the number of a choice, from 1.
func (q *Question) Check(answer string) error {
	_, err := q.answer(answer)
	return err
}

// Numbered reports whether a choice may be named by its number: none of them is a number itself.
func (q *Question) Numbered() bool {
	return !slices.ContainsFunc(q.Choices, func(c Choice) bool {
		_, err := strconv.Atoi(c.Value)
		return err == nil
	})
}

func (q *Question) answer(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		text = q.Default
	}
	if len(q.Choices) > 0 {
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(q.Choices) && q.Numbered() {
			text = q.Choices[n-1].Value
		}
		if !slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Value == text }) {
			return "", fmt.Errorf("%q is none of the answers", text)
		}
	}
	if text == "" {
		return "", errors.New("an answer is needed")
	}
	if q.check != nil {
		return text, q.check(text)
	}
	return text, nil
}

// Flow asks step by step what a command needs, the same for every face, and last whether to run it.
type Flow struct {
	answers map[string]string
	next    func(f *Flow) (*Question, error)
	command func(f *Flow) string
}

const run = "run" // the name of the last question

// Next is the question to ask, nil where all are answered. It fails where the answers so far lead nowhere.
func (f *Flow) Next() (*Question, error) {
	if _, ended := f.answers[run]; ended {
		return nil, nil
	}
	q, err := f.next(f)
	if err != nil || q != nil {
		return q, err
	}
	return &Question{
		Name: run, Text: "Run it?", Default: "yes", Choices: []Choice{{"yes", "now"}, {"no", "not now"}},
		Explain: []string{"The command that does the same unattended:", "  " + f.Command()},
	}, nil
}

// Answer answers a question. An answer that will not do is an error, and the question stands.
func (f *Flow) Answer(q *Question, text string) error {
	answer, err := q.answer(text)
	if err != nil {
		return err
	}
	f.answers[q.Name] = answer
	return nil
}

// Command is the command that does unattended what the answers say.
func (f *Flow) Command() string { return f.command(f) }

// Agreed reports whether the command is to be run.
func (f *Flow) Agreed() bool { return f.answers[run] == "yes" }

// Given is what was answered to a question, "" for nothing or for what was taken back.
func (f *Flow) Given(name string) string { return f.answers[name] }

// Last reports whether the question is whether to run the command.
func (q *Question) Last() bool { return q.Name == run }

func (f *Flow) has(name string) bool { return f.answers[name] != "" }
