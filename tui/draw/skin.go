// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Skin changes styles of the themes. It does not change the theme "none".
type Skin struct {
	looks map[string]lookNode
}

// lookNode is a YAML node that sets some parts of a look.
type lookNode struct{ yaml.Node }

// UnmarshalYAML stores the node. It is decoded later, on top of the look of a theme.
func (l *lookNode) UnmarshalYAML(n *yaml.Node) error {
	l.Node = *n
	return nil
}

var colourForm = regexp.MustCompile(`^(#[0-9a-fA-F]{6})?(/([0-9]|1[0-5]))?$`)

// ReadSkin reads a skin: YAML with the names of styles and the parts of them that change:
//
//	cursor: {fg: "#ffffff/15", bg: "#00408f/4", bold: true}
//	warn: {fg: "#ffaf00/3"}
//
// A colour is #rrggbb, optionally with /N (0 to 15) for terminals with 16 colours. Errors have the form name:line and
// contain the expected value.
func ReadSkin(r io.Reader, name string) (*Skin, error) {
	var s Skin
	switch err := yaml.NewDecoder(r).Decode(&s.looks); {
	case errors.Is(err, io.EOF):
		return &s, nil
	case err != nil:
		return nil, fmt.Errorf("%s: expected names of styles with their changes: %w", name, err)
	}
	known := (&Theme{}).styles()
	for _, style := range slices.Sorted(maps.Keys(s.looks)) {
		node := s.looks[style]
		if known[style] == nil {
			return nil, fmt.Errorf("%s:%d: unknown style %q, expected one of %s", name, node.Line, style,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		look, err := node.overlay(Look{})
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: expected fg and bg with colours, bold, reverse and underline with "+
				"true or false: %w", name, node.Line, style, err)
		}
		for _, c := range []string{look.Foreground, look.Background} {
			if !colourForm.MatchString(c) {
				return nil, fmt.Errorf("%s:%d: %s has the colour %q, expected a colour such as #ffb300/3", name,
					node.Line, style, c)
			}
		}
	}
	return &s, nil
}

// parts are the keys of a look.
var parts = []string{"fg", "bg", "bold", "reverse", "underline"}

// overlay returns a copy of the look in which the values of the node replace the old values.
func (l *lookNode) overlay(look Look) (Look, error) {
	if l.Kind != yaml.MappingNode {
		return look, fmt.Errorf("line %d is not a list of keys and values", l.Line)
	}
	for i := 0; i < len(l.Content); i += 2 {
		if key := l.Content[i]; !slices.Contains(parts, key.Value) {
			return look, fmt.Errorf("line %d: unknown key %q", key.Line, key.Value)
		}
	}
	err := l.Decode(&look)
	return look, err
}

// overlay returns the look of a style with the changes that the skin makes.
func (s *Skin) overlay(style string, look Look) Look {
	if node, ok := s.looks[style]; ok {
		look, _ = node.overlay(look) // [ReadSkin] checked that it can be decoded
	}
	return look
}
