// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	shellanswer "example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// console is a session with a record of all its commands.
type console struct {
	t     testing.TB
	shell *shell.Shell
	// scene lists the commands that changed something.
	scene  []string
	source string
	// made holds the source and the commands that made the file of the source.
	made []string
}

func open(t testing.TB, from string) *console {
	t.Helper()
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), src, session.Options{})
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Start(t.Context()); err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	return &console{t: t, shell: shell.New(s), source: from}
}

// run runs a command and returns its output and its error.
func (c *console) run(command string, asJSON bool) (out, notes string, err error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	var written, warned bytes.Buffer
	err = c.shell.Run(ctx, "counted", command, &shell.Output{
		W: &written, Notes: &warned, Form: prose.When(asJSON, shellanswer.FormJSON, shellanswer.FormText),
		UnreadShown: true,
	})
	if ctx.Err() != nil {
		c.t.Fatalf("%s: not done in a minute", command)
	}
	return written.String(), warned.String(), err
}

// do runs a command that changes something, and records it if it succeeds.
func (c *console) do(command string) error {
	c.t.Helper()
	_, _, err := c.run(command, false)
	if _, isUsage := errors.AsType[*lang.UsageError](err); isUsage {
		c.t.Fatalf("%s: %v", command, err)
	}
	if err == nil {
		c.scene = append(c.scene, command)
	}
	return err
}

// dump returns the output of a dump, "" if there is nothing of that kind.
func (c *console) dump(kind, of string) (string, error) {
	out, _, err := c.run("dump "+kind+" - of="+of, false)
	return out, err
}

// replay returns a console with the same source after the same commands.
func (c *console) replay() *console {
	c.t.Helper()
	again := open(c.t, c.source)
	for _, command := range c.scene {
		if err := again.do(command); err != nil {
			c.t.Fatalf("%s fails the second time: %v", command, err)
		}
	}
	return again
}

// object is an object of an answer in JSON, with the leaves that were compared.
type object struct {
	value map[string]any
	seen  map[string]bool
}

// at returns the value at a path of keys and indexes, as in "worst.0.paths".
func (o *object) at(path string) (value any, ok bool) {
	value = o.value
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			if value, ok = v[key]; !ok {
				return nil, false
			}
		case []any:
			if !isNumber(key) || decimal(key) >= len(v) {
				return nil, false
			}
			value = v[decimal(key)]
		default:
			return nil, false
		}
	}
	o.seen[path] = true
	return value, true
}

// length returns the number of elements of a list, 0 if there is none.
func (o *object) length(path string) int {
	seen := o.seen[path]
	v, _ := o.at(path)
	o.seen[path] = seen
	list, _ := v.([]any)
	if len(list) == 0 {
		o.seen[path] = true
	}
	return len(list)
}

// unseen returns the paths of the leaves that were not compared.
func (o *object) unseen() (paths []string) {
	var look func(path string, v any)
	look = func(path string, v any) {
		if path != "" && o.seen[path] && !isTree(v) {
			return
		}
		join := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				look(join(key), x)
			}
		case []any:
			for i, x := range v {
				look(join(number(i)), x)
			}
			if len(v) == 0 && !o.seen[path] {
				paths = append(paths, path)
			}
		default:
			paths = append(paths, path)
		}
	}
	look("", o.value)
	return paths
}

// isTree reports whether a value has objects or lists in it.
func isTree(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return true
	case []any:
		return len(v) > 0 && isTree(v[0])
	}
	return false
}

func readObjects(t testing.TB, command, text string) (all []*object) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for d.More() {
		o := &object{seen: map[string]bool{}}
		if err := d.Decode(&o.value); err != nil {
			t.Fatalf("%s: its JSON is not an object a line: %v\n%s", command, err, text)
		}
		all = append(all, o)
	}
	return all
}

// has reports whether there is a value at a path.
func (o *object) has(path string) bool {
	seen := o.seen[path]
	v, ok := o.at(path)
	o.seen[path] = seen
	return ok && v != nil
}
