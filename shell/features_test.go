// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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

// verbs are the words with which summaries of commands begin.
var verbs = strings.Fields(
	`Acknowledge Add Allow Apply Ask Build Change Check Choose Compare Compute Control Count Delete Disable
	Discard Drain Draw Enable End Export Fail Find Follow Generate Give Import Keep Leave List Measure Merge
	Move Name Plug Print Put Query Read Record Remove Report Restore Route Run Save Send Set Show Simulate Start
	State Stop Summarize Take Trace Train Undo Undrain Use Write`)

// The summary of a command begins with a verb and is short. A command of one word has a group. Each command has
// examples and declares what it answers.
func TestCommandHelp(t *testing.T) {
	eachCommand(t, func(t *testing.T, c *feature.Command) {
		verb := strings.TrimRight(strings.Fields(c.Summary)[0], ",")
		switch {
		case len(c.Summary) > 60 || strings.Contains(c.Summary, ";") || !slices.Contains(verbs, verb):
			t.Errorf("the summary %q is longer than 60 characters, has a semicolon, or begins with no verb", c.Summary)
		case (len(c.Words()) == 1) != slices.Contains(feature.Groups, c.Group):
			t.Errorf("a command of %d words has the group %q", len(c.Words()), c.Group)
		case c.Run != nil && (len(c.Examples) == 0 || (len(c.Answers) == 0) != c.NoAnswer):
			t.Error("no example, or no answer declared")
		}
	})
}

// TestOtherForms checks what Markdown, HTML and CSV have of answers whose text is a drawing, of values that are not
// counted, of a report, and of empty tables.
func TestOtherForms(t *testing.T) {
	for _, c := range []struct {
		form          answer.Form
		command, want string
	}{
		{answer.FormMarkdown, "trace node-0001 node-0005", "\n* result: delivered over 3 switches\n"},
		{answer.FormMarkdown, "who uses leaf-01/1", "\n| node-0001 HCA-1/1 | 1 | - | leaf-01/1 |\n"},
		{answer.FormJSON, "who uses leaf-01/1", `"port":1},"lid":1,"switch":`},
		{answer.FormMarkdown, "check credits", "dependencies\n\n* no credit loop\n"},
		{answer.FormMarkdown, "report morning", "\n## New problems\n"},
		{answer.FormHTML, "report morning", "<!DOCTYPE html>"},
		{answer.FormCSV, "report morning", "name,since,until,"},
		{answer.FormCSV, "summary", "source,simulated,"},
		{answer.FormCSV, "check reach", "links,paths,longest\n2,8,\n"},
		{answer.FormCSV, "diff live live", "old,new,compared,"},
	} {
		var out bytes.Buffer
		s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{Fast: true})
		if err := New(s).Run(t.Context(), "test", c.command, &Output{W: &out, Form: c.form}); err != nil ||
			!strings.Contains(out.String(), c.want) {
			t.Errorf("%s as %s: %v, expected %q in\n%s", c.command, c.form, err, c.want, &out)
		}
	}
}

// The outcome of a command that does something is its first line, and what follows for the rest of the subnet.
func TestOutcome(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{Fast: true})
	var outcome string
	hear := func(a *answer.Answer) { outcome = a.Outcome() }
	for _, c := range [][2]string{
		{"fail switch leaf-02", "failed in the what-if: switch leaf-02 with 4 links; unreachable: 3 nodes, 2 hosts"},
		{"undo", "undone: switch leaf-02 with 4 links"},
	} {
		if err := New(s).Run(t.Context(), "test", c[0], &Output{W: io.Discard, OnAnswer: hear}); err != nil ||
			outcome != c[1] {
			t.Errorf("%s: %q, %v, expected %q", c[0], outcome, err, c[1])
		}
	}
}

// fixedSLs are commands whose SLs are not those that the SA may grant to a request: they are the SL of a group or of a
// partition, or that of a record that the SA returned.
var fixedSLs = []string{"show groups", "sa path", "check partitions"}

// TestSLsWithTheirRange checks that each object of an answer that has the SL of a path has the range of SLs, too.
func TestSLsWithTheirRange(t *testing.T) {
	found := 0
	eachCommand(t, func(t *testing.T, c *feature.Command) {
		for _, d := range c.Answers {
			var walk func(v any)
			walk = func(v any) {
				switch v := v.(type) {
				case map[string]any:
					if properties, ok := v["properties"].(map[string]any); ok && properties["sl"] != nil {
						if found++; properties["sls"] == nil && !slices.Contains(fixedSLs, c.Path) {
							t.Errorf("%s: an object has sl, but not sls", d.Name())
						}
					}
					for _, of := range v {
						walk(of)
					}
				case []any:
					for _, of := range v {
						walk(of)
					}
				}
			}
			text, err := json.Marshal(d.Schema())
			var plain any
			if err == nil {
				err = json.Unmarshal(text, &plain)
			}
			if err != nil {
				t.Fatal(err)
			}
			walk(plain)
		}
	})
	if found < 5 {
		t.Errorf("%d objects have SLs", found)
	}
}

// TestExitStatusDocuments checks that docs/scripting.md lists each command whose exit status depends on its verdict,
// next to the rule that the answers of the command declare.
func TestExitStatusDocuments(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "scripting.md"))
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]answer.Fails{}
	for rule, row := range map[answer.Fails]string{answer.Always: "if the verdict", answer.Asked: "as `--fail-on`"} {
		found := regexp.MustCompile(`(?m)^\| (.*) \| ` + row).FindStringSubmatch(string(doc))
		if found == nil {
			t.Fatalf("there is no row %q", row)
		}
		for name := range strings.SplitSeq(found[1], ", ") {
			rules[strings.Trim(name, "`")] = rule
		}
	}
	used := map[string]bool{}
	eachCommand(t, func(t *testing.T, c *feature.Command) {
		for _, a := range c.Answers {
			words := c.Words()
			for len(words) > 0 && rules[strings.Join(words, " ")] == answer.Never {
				words = words[:len(words)-1]
			}
			name := strings.Join(words, " ")
			if rule := a.FailsOn(); rule != answer.Never {
				used[name] = true
				if rules[name] != rule {
					t.Errorf("docs/scripting.md has no or a wrong rule")
				}
			}
		}
	})
	for name := range rules {
		if !used[name] {
			t.Errorf("docs/scripting.md lists %s, which has no verdict", name)
		}
	}
}
