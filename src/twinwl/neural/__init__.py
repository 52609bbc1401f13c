"""Networks: training, STwin's and NTwin's models, models of PyG on rows."""
