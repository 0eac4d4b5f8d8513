// SPDX-License-Identifier: Apache-2.0

package mad

import "context"

// attributeOf is a pointer to T that is an attribute.
type attributeOf[T any] interface {
	*T
	Attribute
}

// Get asks by directed route for the attribute that T is:
//
//	info, err := mad.Get[mad.PortInfo](ctx, client, path, port)
func Get[T any, P attributeOf[T]](ctx context.Context, c *Client, path Path, mod uint32) (T, error) {
	var a T
	err := c.ask(ctx, &Request{Method: MethodGet, Attr: P(&a).AttrID(), Mod: mod, Path: path}, P(&a))
	return a, err
}

// GetLID is [Get] by LID.
func GetLID[T any, P attributeOf[T]](ctx context.Context, c *Client, lid uint16, mod uint32) (T, error) {
	var a T
	err := c.ask(ctx, &Request{Method: MethodGet, Attr: P(&a).AttrID(), Mod: mod, LID: lid}, P(&a))
	return a, err
}

// Set writes an attribute by directed route and returns what the node says it
// is after that.
func Set[T any, P attributeOf[T]](ctx context.Context, c *Client, path Path, mod uint32, a T) (T, error) {
	req := Request{Method: MethodSet, Attr: P(&a).AttrID(), Mod: mod, Path: path}
	b, err := P(&a).MarshalBinary()
	if err != nil {
		return a, req.failed(err)
	}
	copy(req.Data[:], b)
	err = c.ask(ctx, &req, P(&a))
	return a, err
}

func (c *Client) ask(ctx context.Context, req *Request, a Attribute) error {
	data, err := c.Do(ctx, req)
	if err != nil {
		return err
	}
	return a.UnmarshalBinary(data[:])
}

// NodeInfo asks what the node at the end of path is.
func (c *Client) NodeInfo(ctx context.Context, path Path) (NodeInfo, error) {
	return Get[NodeInfo](ctx, c, path, 0)
}

// NodeDescription asks the node at the end of path for its description.
func (c *Client) NodeDescription(ctx context.Context, path Path) (NodeDescription, error) {
	return Get[NodeDescription](ctx, c, path, 0)
}

// PortInfo asks the node at the end of path for one of its ports.
func (c *Client) PortInfo(ctx context.Context, path Path, port uint8) (PortInfo, error) {
	return Get[PortInfo](ctx, c, path, uint32(port))
}

// SwitchInfo asks the switch at the end of path what it is.
func (c *Client) SwitchInfo(ctx context.Context, path Path) (SwitchInfo, error) {
	return Get[SwitchInfo](ctx, c, path, 0)
}

// LinearForwardingTable asks the switch at the end of path for one block of its
// table.
func (c *Client) LinearForwardingTable(ctx context.Context, path Path, block uint16) (LinearForwardingTable, error) {
	return Get[LinearForwardingTable](ctx, c, path, uint32(block))
}

// SMInfo asks the port at the end of path for its subnet manager.
func (c *Client) SMInfo(ctx context.Context, path Path) (SMInfo, error) {
	return Get[SMInfo](ctx, c, path, 0)
}
