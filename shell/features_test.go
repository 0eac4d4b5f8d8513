// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// eachCommand calls test for each command of the features.
func eachCommand(t *testing.T, test func(t *testing.T, c *feature.Command)) {
	t.Helper()
	for _, f := range features {
		for i := range f.Commands {
			c := &f.Commands[i]
			t.Run(strings.ReplaceAll(c.Path, " ", "_"), func(t *testing.T) { test(t, c) })
		}
	}
}

// Declarations have no reserved or repeated keys, and their forms name fields that exist.
func TestDeclarations(t *testing.T) {
	paths := map[string]bool{}
	eachCommand(t, func(t *testing.T, c *feature.Command) {
		if paths[c.Path] {
			t.Errorf("%s is declared twice", c.Path)
		}
		paths[c.Path] = true
		for _, d := range c.Answers {
			if err := d.Check(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Help of commands is short, and each command has an example and says what it answers.
func TestCommandHelp(t *testing.T) {
	eachCommand(t, func(t *testing.T, c *feature.Command) {
		switch {
		case len(c.Summary) > 60 || strings.Contains(c.Summary, ";"):
			t.Errorf("the summary %q is longer than 60 characters or has a semicolon", c.Summary)
		case c.Run != nil && (len(c.Examples) == 0 || (len(c.Answers) == 0) != c.NoAnswer):
			t.Error("no example, or no answer declared")
		}
	})
}

// What the examples of each command print with --json fits the schema of one of its answers.
func TestExamplesFitSchemas(t *testing.T) {
	t.Chdir(t.TempDir()) // where examples write files
	schemas := map[string][]*jsonschema.Schema{}
	eachCommand(t, func(t *testing.T, c *feature.Command) {
		for _, d := range c.Answers {
			schemas[d.Name()] = append(schemas[d.Name()], schemaOf(t, d))
		}
		for _, example := range c.Examples {
			s := sessiontest.OpenWith(t, "sim:fattree:2,36", session.Options{Fast: true})
			var out bytes.Buffer
			// An example may need a source that the simulation is not; then it prints no answer.
			runErr := New(s).Run(t.Context(), "example", example, &Output{W: &out, Form: answer.FormJSON})
			fitting := fits(t, out.String(), c, schemas)
			if runErr == nil && fitting == 0 && c.Run != nil && !c.NoAnswer {
				t.Errorf("%s printed no object", example)
			}
		}
	})
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

// The outcome of a command that does something is its first line, and what follows for the rest of the subnet.
func TestOutcome(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{Fast: true})
	var outcome string
	hear := func(a *answer.Answer) { outcome = a.Outcome() }
	for _, c := range [][2]string{
		{"fail switch leaf-02", "failed on paper: switch leaf-02 with 4 links; unreachable: 3 nodes"},
		{"undo", "undone: switch leaf-02 with 4 links"},
	} {
		if err := New(s).Run(t.Context(), "test", c[0], &Output{W: io.Discard, Hear: hear}); err != nil ||
			outcome != c[1] {
			t.Errorf("%s: %q, %v, expected %q", c[0], outcome, err, c[1])
		}
	}
}
