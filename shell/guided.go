// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Question is one step of a [Flow].
type Question struct {
	// Name is what the answer is for: "file". Text asks, and Explain says more, a
	// line each.
	Name    string
	Text    string
	Explain []string
	// Choices are what it may be; none for a free text.
	Choices []Choice
	// Default is the answer where there is none, "" for none.
	Default string
	check   func(answer string) error
}

// Choice is an answer with what it means.
type Choice struct{ Value, Text string }

// Check returns why an answer will not do, nil if it will. The answer may be the
// number of a choice, from 1.
func (q *Question) Check(answer string) error {
	_, err := q.answer(answer)
	return err
}

// Numbered says that a choice may be named by its number: none of them is a number
// itself.
func (q *Question) Numbered() bool {
	return !slices.ContainsFunc(q.Choices, func(c Choice) bool {
		_, err := strconv.Atoi(c.Value)
		return err == nil
	})
}

// answer is what an answer means.
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

// Flow asks step by step what a command needs, the same for every face. The last
// question is whether to run the command.
type Flow struct {
	answers map[string]string
	next    func(f *Flow) (*Question, error)
	command func(f *Flow) string
}

// run is the name of the last question.
const run = "run"

// Next is the question to ask, nil where all are answered. It fails where the
// answers so far lead nowhere.
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

// Answer answers a question. An answer that will not do is an error, and the
// question stands.
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

// Agreed says that the command is to be run.
func (f *Flow) Agreed() bool { return f.answers[run] == "yes" }

// Given is what was answered to a question, "" for nothing or for what was taken back.
func (f *Flow) Given(name string) string { return f.answers[name] }

// Last says that the question is whether to run the command.
func (q *Question) Last() bool { return q.Name == run }

func (f *Flow) has(name string) bool { return f.answers[name] != "" }

// errUnattended says why there is nobody to ask.
var errUnattended = errors.New("it asks questions, and there is no terminal to answer them (help says what commands take unattended)")

// guide asks the questions of a flow one after the other and runs its command.
func (c *call) guide(f *Flow) error {
	if c.out.Ask == nil || c.out.JSON {
		return errUnattended
	}
	for {
		q, err := f.Next()
		if err != nil {
			return err
		}
		if q == nil {
			break
		}
		if err := c.ask(f, q); err != nil {
			return err
		}
	}
	if !f.Agreed() {
		c.out.note("nothing was done")
		return nil
	}
	return c.shell.Run(c.ctx, c.Command, f.Command(), c.out)
}

// ask prints a question and reads answers until one will do.
func (c *call) ask(f *Flow, q *Question) error {
	for _, line := range q.Explain {
		_, _ = fmt.Fprintln(c.out.W, line)
	}
	_, _ = fmt.Fprintln(c.out.W, q.Text)
	wide := 10
	for _, choice := range q.Choices {
		wide = max(wide, len(choice.Value))
	}
	for i, choice := range q.Choices {
		number := fmt.Sprintf("%2d", i+1)
		if !q.Numbered() {
			number = "  "
		}
		_, _ = fmt.Fprintf(c.out.W, " %s  %-*s  %s\n", number, wide, choice.Value, choice.Text)
	}
	prompt := q.Name + ": "
	if q.Default != "" {
		prompt = fmt.Sprintf("%s [%s]: ", q.Name, q.Default)
	}
	for {
		text, err := c.out.Ask(c.ctx, prompt)
		if errors.Is(err, io.EOF) {
			return errors.New("the questions were left; nothing was done")
		}
		if err != nil {
			return err
		}
		err = f.Answer(q, text)
		if err == nil {
			return nil
		}
		c.out.note("%v", err)
	}
}

// Asker reads one line that somebody types behind a prompt; io.EOF where they leave.
type Asker func(ctx context.Context, prompt string) (string, error)
