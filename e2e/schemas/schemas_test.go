// SPDX-License-Identifier: Apache-2.0

package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestExamplesFitSchemas checks that what the examples of each command print with --json fits the schema of one of its
// answers.
func TestExamplesFitSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the examples of all commands in twenty seconds")
	}
	t.Chdir(t.TempDir()) // where examples write files
	schemas := map[string][]*jsonschema.Schema{}
	for _, f := range shell.Features() {
		for i := range f.Commands {
			c := &f.Commands[i]
			t.Run(strings.ReplaceAll(c.Path, " ", "_"), func(t *testing.T) {
				for _, d := range c.Answers {
					schemas[d.Name()] = append(schemas[d.Name()], schemaOf(t, d))
				}
				for _, example := range c.Examples {
					run(t, c, example, schemas)
				}
			})
		}
	}
}

func run(t *testing.T, c *feature.Command, example string, schemas map[string][]*jsonschema.Schema) {
	t.Helper()
	s := sessiontest.OpenWith(t, "sim:fattree:2,36", session.Options{Fast: true})
	var out bytes.Buffer
	hear := func(a *answer.Answer) { checkMarkup(t, example, a) }
	// An example may need a source that the simulation is not; then it prints no answer.
	err := shell.New(s).Run(t.Context(), "example", example,
		&shell.Output{W: &out, Form: answer.FormJSON, OnAnswer: hear})
	fitting := fits(t, out.String(), c, schemas)
	if err == nil && fitting == 0 && c.Run != nil && !c.NoAnswer {
		t.Errorf("%s printed no object", example)
	}
}

// emptyFact matches a line of Markdown whose fact has no value, or one that begins with a comma.
var emptyFact = regexp.MustCompile(`(?m)^\* [^:|\n]*: +(,.*)?$`)

// checkMarkup reports empty facts, and headings and tables without rows, in the Markdown of an answer, and CSV without
// a row where the answer has rows.
func checkMarkup(t *testing.T, example string, a *answer.Answer) {
	t.Helper()
	if a.IsAction() {
		return
	}
	var markdown, csv, out bytes.Buffer
	if err := errors.Join(a.Markdown(&markdown), a.CSV(&csv, ""), a.JSON(&out, 1)); err != nil {
		t.Errorf("%s: %v", example, err)
		return
	}
	text := markdown.String()
	if line := emptyFact.FindString(text); line != "" {
		t.Errorf("%s: empty fact %q in\n%s", example, line, text)
	}
	for part := range strings.SplitSeq(text, "\n### ") {
		if _, rows, table := strings.Cut(part, "--- |\n"); table && !strings.HasPrefix(rows, "| ") {
			t.Errorf("%s: table without rows in\n%s", example, text)
		}
	}
	if strings.Contains(text, "\n### ") && !strings.Contains(text, "--- |\n| ") {
		t.Errorf("%s: heading without a table in\n%s", example, text)
	}
	sheets, err := a.Sheets()
	hasRows := slices.ContainsFunc(sheets, func(s answer.Sheet) bool { return s.Len() > 0 })
	if err != nil || hasRows && strings.Count(csv.String(), "\n") < 2 {
		t.Errorf("%s: CSV has no row, %v:\n%s%s", example, err, &csv, &out)
	}
}

// fits validates the objects of the answers of a command and counts them.
func fits(t *testing.T, text string, c *feature.Command, schemas map[string][]*jsonschema.Schema) (count int) {
	t.Helper()
	names := map[string]bool{}
	for _, d := range c.Answers {
		names[d.Name()] = true
	}
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		command, _ := o["command"].(string)
		if !names[command] {
			continue
		}
		count++
		var faults []error
		for _, s := range schemas[command] {
			if err := s.Validate(o); err != nil {
				faults = append(faults, err)
			}
		}
		if len(faults) == len(schemas[command]) {
			t.Errorf("%s%v", line, errors.Join(faults...))
		}
	}
	return count
}

func schemaOf(t *testing.T, d answer.Declared) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(d.Schema())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
