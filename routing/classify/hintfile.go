// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"example.org/ibconsole/fabric"
)

// The highest tier, and the highest pod, plane and rail.
const (
	mostTier = 15
	mostPart = 1 << 14
)

// ReadHints reads a file of hints: a list of mappings with the key name or guid, and one or more of the keys role,
// tier, pod, plane and rail. Errors name the file, the line and what was expected.
func ReadHints(r io.Reader, file string) (*Hints, error) {
	hints := &Hints{File: file}
	var doc yaml.Node
	switch err := yaml.NewDecoder(r).Decode(&doc); {
	case errors.Is(err, io.EOF):
		return hints, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %s", file, fabric.Escape(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode {
		return nil, refuse(file, list, "expected a list: - name: PATTERN, then role, tier, pod, plane or rail")
	}
	for _, n := range list.Content {
		h, err := readHint(file, n)
		if err != nil {
			return nil, err
		}
		hints.All = append(hints.All, h)
	}
	return hints, nil
}

func refuse(file string, n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", file, n.Line, fmt.Sprintf(format, args...))
}

// readHint reads an element of the list.
func readHint(file string, n *yaml.Node) (Hint, error) {
	h := Hint{Line: n.Line}
	if n.Kind != yaml.MappingNode {
		return h, refuse(file, n, "expected a mapping such as {name: \"spine-*\", tier: 1}")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case seen[key.Value]:
			return h, refuse(file, key, "%s is given twice", fabric.Escape(key.Value))
		case value.Kind != yaml.ScalarNode:
			return h, refuse(file, value, "expected a word or a number after %s", fabric.Escape(key.Value))
		}
		seen[key.Value] = true
		if err := h.take(key.Value, value.Value); err != nil {
			return h, refuse(file, value, "%v", err)
		}
	}
	switch {
	case seen["name"] == seen["guid"]:
		return h, refuse(file, n, "expected either name or guid")
	case len(seen) == 1:
		return h, refuse(file, n, "expected one of role, tier, pod, plane and rail beside %s", n.Content[0].Value)
	}
	return h, nil
}

// take takes the value of a key.
func (h *Hint) take(key, value string) (err error) {
	switch key {
	case "name":
		h.Name = value
		if _, err := path.Match(value, ""); err != nil || value == "" {
			return fmt.Errorf("%q is no pattern, expected a description with * and ? for what varies", value)
		}
	case "guid":
		if h.GUID, err = strconv.ParseUint(value, 0, 64); err != nil || h.GUID == 0 {
			return fmt.Errorf("%q is no GUID, expected a node GUID such as 0x0002c903000a0001", value)
		}
	case "role":
		if h.Role = value; !slices.Contains(HintRoles, value) {
			return fmt.Errorf("%q is no role, expected one of %s", value, strings.Join(HintRoles, ", "))
		}
	case "tier":
		h.Tier, err = hintNumber(value, 0, mostTier)
	case "pod":
		h.Pod, err = hintNumber(value, 1, mostPart)
	case "plane":
		h.Plane, err = hintNumber(value, 1, mostPart)
	case "rail":
		h.Rail, err = hintNumber(value, 1, mostPart)
	default:
		return fmt.Errorf("unknown key %q, expected name, guid, role, tier, pod, plane or rail", key)
	}
	return err
}

func hintNumber(value string, least, most int32) (*int32, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < int64(least) || n > int64(most) {
		return nil, fmt.Errorf("%q, expected a number from %d to %d", value, least, most)
	}
	v := int32(n)
	return &v, nil
}
