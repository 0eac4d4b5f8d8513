// SPDX-License-Identifier: Apache-2.0

package site

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func read(t *testing.T, text string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(t.Context(), file)
}

func TestReadTakesTheLines(t *testing.T) {
	c, err := read(t, "# site\n\nsource umad:mlx5_0\nnames /n\nmkeys /k\nwatch 0.5\ntheme dark\nkey sweep =\n")
	if err != nil || c.Source != "umad:mlx5_0" || c.Names != "/n" || c.MKeys != "/k" ||
		c.Watch != 500*time.Millisecond {
		t.Errorf("%+v, %v", c, err)
	}
	if err := c.MayWrite(); err != nil {
		t.Error(err)
	}
	if c, err := Read(t.Context(), filepath.Join(t.TempDir(), "none")); err != nil || len(c.Rules()) > 0 {
		t.Errorf("of no file: %+v, %v", c, err)
	}
}

func TestReadSaysWhatWasExpected(t *testing.T) {
	for text, want := range map[string]string{
		"\nwrites never":               `config:2: unknown word "writes", expected one of source,`,
		"write":                        "config:1: write has no value",
		"alert PortRcvErrors":          `config:1: alert is "PortRcvErrors", expected COUNTER N/PERIOD`,
		"alert PortRcvError 1/1s":      `config:1: unknown error counter "PortRcvError": did you mean "PortRcvErrors"?`,
		"alert PortRcvErrors 1":        `config:1: the limit of PortRcvErrors is "1", expected N/PERIOD`,
		"alert PortRcvErrors 1/1s bad": `config:1: unknown word "bad"`,
		"watch 1\n\nwatch 2":           `config:3: watch is defined twice, first at `,
		"source a\nsource a":           `config:2: source is defined twice, first at `,
		"alert PortRcvErrors 1/1s\nalert VL15Dropped off\nalert PortRcvErrors off": `config:3: alert ` +
			`PortRcvErrors is defined twice, first at `,
		"write = never": "config:1: a set of sources cannot have the name write, expected write never|group:NAME",
		"pane = last":   "config:1: a set of sources cannot have the name pane, expected pane NAME|last",
		"columns = x": "config:1: a set of sources cannot have the name columns, expected columns PANE = HEAD, " +
			"HEAD...",
		strings.Repeat("x\n", 7): "config: 2 further lines are wrong",
		"write on":               `config:1: write is "on", expected never or group:NAME`,
		"write group:":           `config:1: write is "group:", expected never or group:NAME`,
		"watch NaN":              `config:1: watch is "NaN", expected 0.1 to 86400 seconds`,
		"names map":              `config:1: names is "map", expected a path that begins with /`,
		"source\tsim:a:b":        `unknown word "source\tsim:a:b"`,
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestWhoMayWrite(t *testing.T) {
	member := func(g string) bool { return g == "own" }
	for _, c := range []struct {
		text string
		root bool
		want string
	}{
		{"", false, ""},
		{"write group:own", false, ""},
		{"write group:other\nwrite group:own", false, ""},
		{"write group:other", true, ""},
		{"\nwrite group:other\nwrite group:more", false, "config:2: write is for the group other, more"},
		{"write group:own\nwrite never", false, "config:2: write never"},
		{"write never", true, "config:1: write never"},
	} {
		config, err := read(t, c.text)
		if err != nil {
			t.Fatal(err)
		}
		err = config.mayWrite(c.root, member)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "not a security boundary")) {
			t.Errorf("%q, root %v: %v, want %q", c.text, c.root, err, c.want)
		}
	}
}

func TestTheUsersWordsComeFirst(t *testing.T) {
	own := Config{Source: "sim:a", Watch: time.Second}
	got := own.Over(Config{Source: "umad", Names: "/n", Watch: time.Minute})
	if got.Source != "sim:a" || got.Names != "/n" || got.Watch != time.Second {
		t.Errorf("%+v", got)
	}
}

func TestMembersOfAGroup(t *testing.T) {
	if member("no such group") {
		t.Error("this process has a group that is not there")
	}
	own, err := user.LookupGroupId(strconv.Itoa(os.Getegid()))
	if err != nil {
		t.Skipf("the group of this process has no name: %v", err)
	}
	if !member(own.Name) {
		t.Errorf("this process does not have its own group %s", own.Name)
	}
}
