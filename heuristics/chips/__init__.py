"""Problem `chips`: units, cuts of an order, draws by `repair`, and a walk over valid partitions."""
