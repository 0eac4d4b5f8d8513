// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
)

// mustPath parses the output of [Path.String].
func mustPath(t testing.TB, text string) Path {
	t.Helper()
	var p Path
	for _, field := range strings.Split(text, ",")[1:] {
		port, err := strconv.ParseUint(field, 10, 8)
		if err == nil {
			p, err = p.Append(uint8(port))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestPath(t *testing.T) {
	var local Path
	if local.Len() != 0 || local.String() != "0" || local.Parent() != local {
		t.Errorf("the local node is %v with %d hops and parent %v", local, local.Len(), local.Parent())
	}
	p, err := local.Append(1, 5)
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != "0,1,5" || p.Len() != 2 || p.Hop(0) != 1 || p.Hop(1) != 5 {
		t.Errorf("got %v", p)
	}
	q, err := p.Append(7)
	if err != nil || p.String() != "0,1,5" {
		t.Errorf("Append changed %v, or %v", p, err)
	}
	if q.Parent() != p {
		t.Errorf("the parent of %v is %v, want %v (equal in every byte)", q, q.Parent(), p)
	}
}

func TestPathLength(t *testing.T) {
	longest, err := Path{}.Append(bytes.Repeat([]byte{255}, MaxHops)...)
	if err != nil || longest.Len() != MaxHops {
		t.Fatalf("63 hops: %v, %v", longest, err)
	}
	if p := mustPath(t, longest.String()); p != longest {
		t.Errorf("read back %v", p)
	}
	if _, err := longest.Append(1); !errors.Is(err, ErrPath) {
		t.Errorf("64 hops: %v, want %v", err, ErrPath)
	}
}

func TestPathString(t *testing.T) {
	for _, text := range []string{"0", "0,1", "0,255,0,17"} {
		if p := mustPath(t, text); p.String() != text {
			t.Errorf("%q came back as %q", text, p)
		}
	}
}
