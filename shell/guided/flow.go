// SPDX-License-Identifier: Apache-2.0

// Package guided asks for the arguments of a command step by step. The screen and the command line ask the questions of
// a [Flow], which returns the equivalent command.
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
	// Name is the key of the answer, such as "file". Text is the question. Explain holds lines of explanation.
	Name    string
	Text    string
	Explain []string
	Choices []Choice // possible answers; none for free text
	Default string   // the answer for empty input, "" for none
	// Files lists a directory. It is nil if the answer is not a file.
	Files func(ctx context.Context, folder string) (*files.Listing, error)
	// Figures computes the figures of a choice, which may take long. It is nil if the question has no figures.
	Figures func(ctx context.Context, choice string) (string, error)
	check   func(answer string) error
}

// Choice is a possible answer, with a text that explains it.
type Choice struct{ Value, Text string }

// Check returns an error if an answer is invalid. The answer may be the number of a choice, counted from 1.
func (q *Question) Check(answer string) error {
	_, err := q.answer(answer)
	return err
}

// Numbered reports whether the number of a choice is a valid answer. It is not if a choice itself is a number.
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
			return "", fmt.Errorf("%q is not one of the choices", text)
		}
	}
	if text == "" {
		return "", errors.New("an answer is required")
	}
	if q.check != nil {
		return text, q.check(text)
	}
	return text, nil
}

// Flow asks for the arguments of a command step by step. Its last question is whether to run the command.
type Flow struct {
	answers map[string]string
	next    func(f *Flow) (*Question, error)
	command func(f *Flow) string
}

const run = "run" // the name of the last question

// Next returns the next question, or nil if all questions are answered. It returns an error if no command fits the
// answers so far.
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
		Explain: []string{"The equivalent command:", "  " + f.Command()},
	}, nil
}

// Answer sets the answer to a question. It fails if the answer is invalid.
func (f *Flow) Answer(q *Question, text string) error {
	answer, err := q.answer(text)
	if err != nil {
		return err
	}
	f.answers[q.Name] = answer
	return nil
}

// Command returns the command that the answers are equivalent to.
func (f *Flow) Command() string { return f.command(f) }

// Agreed reports whether the user agreed to run the command.
func (f *Flow) Agreed() bool { return f.answers[run] == "yes" }

// Given returns the answer to a question, or "" if the question is not answered.
func (f *Flow) Given(name string) string { return f.answers[name] }

// Last reports whether the question is the last question: whether to run the command.
func (q *Question) Last() bool { return q.Name == run }

func (f *Flow) has(name string) bool { return f.answers[name] != "" }
