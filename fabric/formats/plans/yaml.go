// SPDX-License-Identifier: Apache-2.0

package plans

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
)

// readYAML reads the own format: a list "cables" of [NODE, PORT, NODE, PORT] or of mappings.
func readYAML(p *cabling.Plan, all []byte) error {
	p.Format = "YAML of cables"
	for in := yaml.NewDecoder(bytes.NewReader(all)); ; {
		var doc yaml.Node
		switch err := in.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %s", p.File, fabric.Escape(strings.TrimPrefix(err.Error(), "yaml: ")))
		}
		if err := yamlDocument(p, doc.Content[0]); err != nil {
			return err
		}
	}
}

// yamlDocument reads a document of a file.
func yamlDocument(p *cabling.Plan, list *yaml.Node) error {
	if list.Kind == yaml.MappingNode {
		if len(list.Content) != 2 || list.Content[0].Value != "cables" {
			return refuse(p, list.Line, "expected only the key cables")
		}
		list = list.Content[1]
	}
	if list.Kind != yaml.SequenceNode {
		return refuse(p, list.Line, "expected a list: cables: [[NODE, PORT, NODE, PORT], ...]")
	}
	for _, n := range list.Content {
		cable := cabling.Cable{Line: n.Line}
		var err error
		switch n.Kind {
		case yaml.SequenceNode:
			err = yamlList4(&cable, n)
		case yaml.MappingNode:
			err = yamlMapping(&cable, n)
		default:
			err = errors.New("expected [NODE, PORT, NODE, PORT] or {a: NODE, ap: PORT, b: NODE, bp: PORT}")
		}
		if err != nil {
			return refuse(p, n.Line, "%v", err)
		}
		p.Cables = append(p.Cables, cable)
	}
	return nil
}

func yamlList4(cable *cabling.Cable, n *yaml.Node) error {
	if len(n.Content) != 4 {
		return fmt.Errorf("%d values, expected NODE, PORT, NODE, PORT", len(n.Content))
	}
	for i, key := range []string{"a", "ap", "b", "bp"} {
		if err := yamlSet(cable, key, n.Content[i]); err != nil {
			return err
		}
	}
	return nil
}

func yamlMapping(cable *cabling.Cable, n *yaml.Node) error {
	values := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if values[key] != nil {
			return fmt.Errorf("%s is given twice", fabric.Escape(key))
		}
		values[key] = n.Content[i+1]
	}
	for _, key := range []string{"a", "ap", "b", "bp"} { // a device comes before its port
		if values[key] == nil {
			return fmt.Errorf("the key %s is missing, expected a, ap, b and bp", key)
		}
		if err := yamlSet(cable, key, values[key]); err != nil {
			return err
		}
		delete(values, key)
	}
	for key, value := range values {
		if err := yamlSet(cable, key, value); err != nil {
			return err
		}
	}
	return nil
}

func yamlSet(cable *cabling.Cable, key string, n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("expected a word or a number for %s", fabric.Escape(key))
	}
	a, b, value := &cable.Ends[0], &cable.Ends[1], strings.TrimSpace(n.Value)
	switch key {
	case "a":
		return yamlDevice(a, value)
	case "b":
		return yamlDevice(b, value)
	case "ap":
		return setOwnPort(a, value)
	case "bp":
		return setOwnPort(b, value)
	case "speed":
		return setSpeed(&cable.Kind, value)
	case "width":
		return setWidth(&cable.Kind, value)
	case "length":
		cable.Kind.Length = value
	case "arack":
		a.Rack = value
	case "aunit":
		a.Unit = value
	case "brack":
		b.Rack = value
	case "bunit":
		b.Unit = value
	default:
		return fmt.Errorf("unknown key %q, expected a, ap, b, bp, speed, width, length, arack, aunit, brack or bunit",
			key)
	}
	return nil
}

func yamlDevice(e *cabling.End, value string) error {
	if value == "" {
		return errors.New("a node is empty, expected its name")
	}
	return setDevice(e, value)
}
