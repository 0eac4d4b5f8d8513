// SPDX-License-Identifier: Apache-2.0

// Package site reads the configuration files of the administrator and of the user. They set the source, names, keys,
// the interval of watching, and the permission to write. The permission prevents mistakes and is not a security
// boundary: users who can open the adapter can write to switches with other programs.
package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric/limits"
	"example.org/ibconsole/fabric/trend"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
)

// File is the path of the administrator's configuration, for [Path]. No environment variable changes this path, because
// the file contains the permission to write.
const File = "/etc/ibconsole/config"

// root is put before the paths of [Path]. It is empty except in test programs, where the linker sets it.
var root string

// Path returns the path of a shared file of this machine: a configuration, a record, or the socket of a daemon.
func Path(place string) string { return root + place }

// Config is the contents of a configuration file. The zero value sets nothing.
type Config struct {
	Source string              // the default source
	Names  string              // path of a node-name map
	Hints  string              // path of hints on the structure
	MKeys  string              // path of the file with the M_Key
	Watch  time.Duration       // interval of sweeps of interactive sessions, 0 for none
	Sets   map[string][]string // sets of sources by name
	Alerts []limits.Rule       // rules of alerts
	Limits []trend.Limit       // limits of forecasts
	writes []rule
	lines  map[string]string // "file:line" of what a file may define only once
}

// once returns an error if the file has defined a name before.
func (c *Config) once(name, where string) error {
	if first := c.lines[name]; first != "" {
		return fmt.Errorf("%s is defined twice, first at %s", name, first)
	}
	if c.lines == nil {
		c.lines = map[string]string{}
	}
	c.lines[name] = where
	return nil
}

// rule is a line about permission to write.
type rule struct {
	where string // "file:line"
	group string // "" for never
}

// screenForms are the forms of the lines that configure the screen. The screen reads these lines itself.
var screenForms = []string{"theme NAME", "skin FILE", "mouse on|off", "pane NAME|last", "key ACTION = KEYS",
	"bind KEY = COMMAND", "alias WORD = COMMAND", "columns PANE = HEAD, HEAD..."}

// forms are the forms of the lines that [Read] reads, without sets. The screen reads the same file and skips these
// lines.
var forms = []string{"source SOURCE", "names FILE", "hints FILE", "mkeys FILE", "watch SECONDS",
	"alert COUNTER N/PERIOD", "limit NAME VALUE", "write never|group:NAME"}

// formOf returns the form of the lines that begin with a word, or "".
func formOf(word string, forms []string) string {
	for _, form := range forms {
		if strings.HasPrefix(form, word+" ") {
			return form
		}
	}
	return ""
}

// firstWord returns the first word of a line.
func firstWord(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return word
}

// Shortest and Longest are the limits of the interval of watch, in seconds.
const (
	Shortest = 0.1
	Longest  = 86400
)

// Read reads a file. A missing file sets nothing. Lines are
//
//	# a comment
//	source umad:mlx5_0
//	rails = umad:mlx5_0, umad:mlx5_1
//	names /etc/opensm/ib-node-name-map
//	hints /etc/ibconsole/hints.yaml
//	mkeys /etc/ibconsole/mkey
//	watch 10
//	alert SymbolErrorCounter 1440/1h error
//	write group:ibadmin
//	write never
//
// Read skips lines of the screen. Errors contain file:line and the expected value.
func Read(ctx context.Context, path string) (Config, error) {
	c, err := files.Parse(ctx, path, files.Config.Regular(), parse)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	return c, err
}

func parse(r io.Reader, name string) (Config, error) {
	var c Config
	err := files.Lines(r, name, func(line string, n int) error { return c.take(line, fmt.Sprintf("%s:%d", name, n)) })
	if err != nil {
		return Config{}, err
	}
	return c, nil
}

func (c *Config) take(line, where string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if isSet(line) {
		return c.takeSet(word, strings.TrimSpace(rest[1:]))
	}
	switch {
	case formOf(word, screenForms) != "":
		return nil
	case !Reads(line):
		return fmt.Errorf("unknown word %q, expected one of %s", word,
			strings.Join(prose.Words(slices.Concat(forms, screenForms), firstWord), ", "))
	case rest == "":
		return fmt.Errorf("%s has no value", word)
	}
	if word != "alert" && word != "limit" && word != "write" {
		if err := c.once(word, where); err != nil {
			return err
		}
	}
	switch word {
	case "source":
		c.Source = rest
	case "names", "hints", "mkeys":
		if !filepath.IsAbs(rest) {
			return fmt.Errorf("%s is %q, expected a path that begins with /", word, rest)
		}
		*map[string]*string{"names": &c.Names, "hints": &c.Hints, "mkeys": &c.MKeys}[word] = rest
	case "watch":
		s, err := strconv.ParseFloat(rest, 64)
		if err != nil || !(s >= Shortest && s <= Longest) {
			return fmt.Errorf("watch is %q, expected %g to %d seconds", rest, Shortest, Longest)
		}
		c.Watch = time.Duration(s * float64(time.Second))
	case "alert", "limit":
		return c.takeLimit(word, rest, where)
	case "write":
		group, ok := strings.CutPrefix(rest, "group:")
		switch {
		case rest == "never":
			group = ""
		case !ok || group == "":
			return fmt.Errorf("write is %q, expected never or group:NAME", rest)
		}
		c.writes = append(c.writes, rule{where, group})
	}
	return nil
}

// takeLimit adds the rule of an alert, or a limit of forecasts.
func (c *Config) takeLimit(word, rest, where string) error {
	if word == "limit" {
		l, err := trend.ParseLimit(rest, where)
		if err != nil {
			return err
		}
		c.Limits = append(c.Limits, l)
		return c.once("limit "+l.Name(), where)
	}
	r, err := limits.Parse(rest, where)
	if err != nil {
		return err
	}
	c.Alerts = append(c.Alerts, r)
	return c.once("alert "+r.Counter.String(), where)
}

// Reads reports whether this package reads the line, even if the line has errors. The screen reads the other lines.
func Reads(line string) bool {
	return isSet(line) || formOf(firstWord(line), forms) != ""
}

// isSet reports whether a line defines a set of sources, as "rails = umad:mlx5_0, umad:mlx5_1" does.
func isSet(line string) bool {
	_, rest, _ := strings.Cut(line, " ")
	rest, ok := strings.CutPrefix(strings.TrimSpace(rest), "=")
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// takeSet adds a set with the sources in a list. The sources are separated by a comma and a blank.
func (c *Config) takeSet(name, list string) error {
	if form := formOf(name, slices.Concat(forms, screenForms)); form != "" {
		return fmt.Errorf("a set of sources cannot have the name %s, expected %s", name, form)
	}
	var sources []string
	for s := range strings.SplitSeq(strings.ReplaceAll(list, "\t", " "), ", ") {
		if s = strings.TrimSpace(s); s == "" || strings.HasSuffix(s, ",") {
			return fmt.Errorf("the set %s is %q, expected sources separated by a comma and a space", name, list)
		}
		sources = append(sources, s)
	}
	switch {
	case strings.ContainsAny(name, ":="):
		return fmt.Errorf("a set is called %q, expected a name without : and =", name)
	case c.Sets[name] != nil:
		return fmt.Errorf("the set %s is named twice", name)
	case c.Sets == nil:
		c.Sets = map[string][]string{}
	}
	c.Sets[name] = sources
	return nil
}

// Over returns c with the values of other where c sets none. The result has no permission to write, because both files
// must permit writing.
func (c Config) Over(other Config) Config {
	for _, p := range []struct{ own, other *string }{{&c.Source, &other.Source}, {&c.Names, &other.Names},
		{&c.Hints, &other.Hints}, {&c.MKeys, &other.MKeys}} {
		if *p.own == "" {
			*p.own = *p.other
		}
	}
	if c.Watch == 0 {
		c.Watch = other.Watch
	}
	c.Alerts = append(slices.Clone(other.Alerts), c.Alerts...)
	c.Limits = append(c.Limits, other.Limits...)
	sets := maps.Clone(other.Sets)
	if sets == nil {
		sets = map[string][]string{}
	}
	maps.Copy(sets, c.Sets)
	c.Sets = sets
	return c
}

// WriteError is returned if a configuration file forbids writing to the user.
type WriteError struct {
	Where string // "file:line"
	Want  string // the requirement of the line
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("%s: %s: you may not write here. This prevents mistakes and is not a security "+
		"boundary: users who can open the adapter can write with other programs", e.Where, e.Want)
}

// MayWrite returns an error if the user of this process may not write. "write never" forbids writing to every user,
// including root. If there are lines "write group:NAME", only the members of these groups and root may write.
func (c Config) MayWrite() error { return c.mayWrite(os.Geteuid() == 0, member) }

func (c Config) mayWrite(root bool, member func(group string) bool) error {
	var groups []string
	for _, r := range c.writes {
		if r.group == "" {
			return &WriteError{r.where, "write never"}
		}
		groups = append(groups, r.group)
	}
	if len(groups) == 0 || root || slices.ContainsFunc(groups, member) {
		return nil
	}
	return &WriteError{c.writes[0].where, "write is for the group " + strings.Join(groups, ", ")}
}

// member reports whether this process belongs to a group.
func member(group string) bool {
	g, err := user.LookupGroup(group)
	if err != nil {
		return false
	}
	id, err := strconv.Atoi(g.Gid)
	if err != nil {
		return false
	}
	own, err := os.Getgroups()
	return id == os.Getegid() || err == nil && slices.Contains(own, id)
}

// Rules returns the lines about permission to write.
func (c Config) Rules() []string {
	var out []string
	for _, r := range c.writes {
		out = append(out, r.where+": write "+prose.When(r.group == "", "never", "group:"+r.group))
	}
	return out
}
